//! Determines what this machine can enforce, by enforcing it.

use super::Limits;
use super::options::{InputSource, NetworkAccess, SandboxHelper, ScriptInput};
use super::run_dir::RunDir;
use super::sandbox::{self, SandboxError, SandboxTask, SandboxTier, ScratchLocation, TaskArguments};

/// What this machine can enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxStatus {
    /// The best available protection; `None` if scripts are refused.
    pub tier: Option<SandboxTier>,
    /// The ABI version of Landlock.
    pub landlock: u32,
    /// Why no better protection is available.
    pub missing: Vec<SandboxError>,
    /// Whether Prowess runs as root, whose privileges it drops before a script runs.
    pub root: bool,
}

/// Determines what this machine can enforce, by confining a task without starting it.
pub fn status(helper: &SandboxHelper) -> SandboxStatus {
    let mut status = SandboxStatus { tier: None, landlock: 0, missing: Vec::new(), root: false };
    let user = match sandbox::unused_user() {
        Ok(user) => user,
        Err(error) => {
            status.missing.push(error);
            return status;
        }
    };
    status.root = user.is_some();
    let run_dir = match RunDir::empty(&sandbox::scratch_parent(), user) {
        Ok(run_dir) => run_dir,
        Err(error) => {
            status.missing.push(SandboxError::new(
                SandboxTier::Tier2,
                format_args!("cannot create a scratch directory: {error}"),
            ));
            return status;
        }
    };
    let limits = Limits::default();
    let task = SandboxTask {
        program: "/bin/true".into(),
        arguments: TaskArguments { fixed: &[], user: &[], current_dir: None },
        environment: Vec::new(),
        skill: &run_dir.skill,
        copies: &[],
        scratch: &run_dir.scratch,
        scratch_location: ScratchLocation::Tmp,
        readable: Vec::new(),
        limits: &limits,
        network: NetworkAccess::Off,
        input: InputSource::Complete(ScriptInput::Empty),
        user,
    };
    for backend in sandbox::backends(helper, None) {
        match backend.enforce(&task) {
            Ok(enforced) => {
                status.tier = Some(backend.tier());
                status.landlock = enforced.landlock();
                return status;
            }
            Err(error) => status.missing.push(error),
        }
    }
    status
}
