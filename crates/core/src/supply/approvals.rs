//! Which supplied skills the user approved. Kept in the user's state, by label and URI.
//!
//! What must always hold: an approval counts only for exactly the files that were approved, each with its digest; once
//! another set was seen, it is over, even if the old set comes back; and a state that cannot be read approves nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use prowess_format::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

use super::Offered;
use crate::located::Located;
use crate::surroundings::Surroundings;
use crate::usage::now;
use crate::user_state::{self, TrustError, UserState};

/// What the user said about one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The user's name for the server.
    pub server: String,
    /// Where the skill's `SKILL.md` is there.
    pub uri: String,
    /// The digest of each file at that time, by its URI.
    pub files: BTreeMap<String, String>,
    /// What was granted besides.
    #[serde(flatten)]
    pub grants: Grants,
    /// When, in seconds since 1970.
    #[serde(default)]
    pub at: u64,
    /// Whether another set of files has been seen since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
}

/// What is granted to a skill besides being used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Grants {
    /// Its `allowed-tools` count.
    #[serde(default)]
    pub allow_tools: bool,
    /// While it is loaded, the model may still run the scripts and tools of other skills.
    #[serde(default)]
    pub allow_run: bool,
}

/// What an approval means for a skill as it is offered now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// There is none.
    New,
    /// It was for other files.
    Changed,
    /// It holds.
    Approved(Grants),
}

impl Standing {
    /// What is granted; nothing where it is not approved.
    pub fn grants(self) -> Grants {
        match self {
            Self::Approved(grants) => grants,
            Self::New | Self::Changed => Grants::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct State {
    schema: u32,
    skills: Vec<Approval>,
}

impl UserState for State {
    const BYTES_MAX: u64 = 64 * 1024 * 1024;

    fn schema(&mut self) -> &mut u32 {
        &mut self.schema
    }

    fn sort(&mut self) {
        self.skills.sort_by(|a, b| (&a.server, &a.uri).cmp(&(&b.server, &b.uri)));
    }
}

/// All approvals, as they were read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approvals {
    state: State,
    problem: Option<Located>,
}

impl Approvals {
    /// Reads them. A state that cannot be understood approves nothing, and says so.
    pub fn load(world: &Surroundings) -> Self {
        let Some(path) = path(world) else { return Self::default() };
        match user_state::read(&path) {
            Ok(state) => Self { state, problem: None },
            Err(why) => {
                let message = format!("the approvals cannot be read ({why}); nothing is approved");
                let help = "mend the file, or delete it and approve your skills again";
                let said = Diagnostic::error(Code::TrustState, message).help(help);
                Self { state: State::default(), problem: Some(Located::new(path, said)) }
            }
        }
    }

    pub(crate) fn problem(&self) -> Option<&Located> {
        self.problem.as_ref()
    }

    /// All of them.
    pub fn all(&self) -> &[Approval] {
        &self.state.skills
    }

    /// What the user said about a skill of a server.
    pub fn of(&self, server: &str, uri: &str) -> Option<&Approval> {
        self.state.skills.iter().find(|known| known.server == server && known.uri == uri)
    }

    /// What that means for the skill as it is offered now.
    pub fn standing(&self, server: &str, offered: &Offered) -> Standing {
        match self.of(server, &offered.uri) {
            None => Standing::New,
            Some(approval) if approval.revoked || !approval.is_for(offered) => Standing::Changed,
            Some(approval) => Standing::Approved(approval.grants),
        }
    }
}

impl Approval {
    /// Whether these are the files that were approved: no other, none less, each with its digest.
    fn is_for(&self, offered: &Offered) -> bool {
        !self.files.is_empty()
            && self.files.len() == offered.files.len()
            && offered.files.iter().all(|file| self.files.get(&file.uri) == Some(&file.digest))
    }
}

/// Approves a skill as it is offered now. Gives what was said about it before.
pub fn approve(
    server: &str,
    offered: &Offered,
    grants: Grants,
    world: &Surroundings,
) -> Result<Option<Approval>, TrustError> {
    let files = offered.files.iter().map(|file| (file.uri.clone(), file.digest.clone())).collect();
    let approval = Approval {
        server: server.to_owned(),
        uri: offered.uri.clone(),
        files,
        grants,
        at: now(),
        revoked: false,
    };
    change(world, |state| {
        let before = take(state, |known| known.server == server && known.uri == offered.uri).pop();
        state.skills.push(approval);
        before
    })
}

/// Takes approval back: of one skill, or of all skills of a server. Gives what was said about them.
pub fn withdraw(server: &str, uri: Option<&str>, world: &Surroundings) -> Result<Vec<Approval>, TrustError> {
    change(world, |state| {
        take(state, |known| known.server == server && uri.is_none_or(|uri| known.uri == uri))
    })
}

/// Notes that other files were seen than those that were approved: from now on the approval is over.
pub(crate) fn revoke(changed: &[(String, String)], world: &Surroundings) -> Result<(), TrustError> {
    change(world, |state| {
        for known in &mut state.skills {
            known.revoked |= changed.iter().any(|(server, uri)| known.server == *server && known.uri == *uri);
        }
    })
}

fn take(state: &mut State, wanted: impl Fn(&Approval) -> bool) -> Vec<Approval> {
    let (taken, kept) = std::mem::take(&mut state.skills).into_iter().partition(wanted);
    state.skills = kept;
    taken
}

fn path(world: &Surroundings) -> Option<PathBuf> {
    Some(world.state()?.join("approvals.json"))
}

fn change<T>(world: &Surroundings, change: impl FnOnce(&mut State) -> T) -> Result<T, TrustError> {
    let load = || {
        let Approvals { state, problem } = Approvals::load(world);
        (state, problem)
    };
    user_state::change(path(world), load, change)
}
