//! What this machine enforces, found out by enforcing it.

use prowess::Surroundings;

use super::Limits;
use super::options::{Feed, Helper, Input, Network};
use super::sandbox::{self, SandboxError, Task, Tier};
use super::stage::Stage;

/// What this machine enforces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The best protection there is; none where scripts are refused.
    pub tier: Option<Tier>,
    /// The version of Landlock's interface.
    pub landlock: u32,
    /// Why there is no better one.
    pub missing: Vec<SandboxError>,
    /// Whether Prowess is root, and gives that up before anything runs.
    pub root: bool,
}

/// Confines something that then does not begin.
pub fn status(helper: &Helper, world: &Surroundings) -> Status {
    let _ = world;
    let mut status = Status { tier: None, landlock: 0, missing: Vec::new(), root: false };
    let user = match sandbox::unused_user() {
        Ok(user) => user,
        Err(error) => {
            status.missing.push(error);
            return status;
        }
    };
    status.root = user.is_some();
    let stage = match Stage::empty(&sandbox::scratch_parent(), user) {
        Ok(stage) => stage,
        Err(error) => {
            status.missing.push(SandboxError::new(Tier::Tier2, format_args!("no scratch folder: {error}")));
            return status;
        }
    };
    let limits = Limits::default();
    let task = Task {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        skill: &stage.skill,
        scratch: &stage.scratch,
        readable: Vec::new(),
        limits: &limits,
        network: Network::Off,
        input: Feed::Given(Input::Nothing),
        user,
    };
    for way in sandbox::ways(helper, None) {
        match way.enforce(&task) {
            Ok(enforced) => {
                status.tier = Some(way.tier());
                status.landlock = enforced.landlock();
                return status;
            }
            Err(error) => status.missing.push(error),
        }
    }
    status
}
