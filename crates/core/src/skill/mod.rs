//! A skill: where it was found, what its manifest says, and its status. All of that is plain data.
//!
//! The lock, pinned trust and remote servers are services that a registry passes in as one [`Verify`]. This module does not
//! know how they work, and each skill carries only a handle to them, so that no reader of its files can forget them.

mod closed;
mod found;
mod root;
mod status;

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

pub use closed::Closed;
pub(crate) use closed::{shown, shown_name};
pub(crate) use found::{FileName, SKILL_MD_MAX};
pub use found::{Found, Link};
pub use root::Root;
pub use status::{Disabled, Modified, Shadowed, Status, Untrusted};

use crate::lock_file::Locked;
use crate::supply::{Supplied, Unverified};
use prowess_fs::HashedTree;

/// Decides whether bytes that were read may be used. Every read of a skill's files goes through it.
pub(crate) trait Verify: Debug + Send + Sync {
    /// Returns the entry of the lock for an installed skill.
    fn locked(&self, skill: &Skill) -> Option<Locked>;

    /// Refuses a skill that differs from its lock, or whose file at `path` does not have these bytes.
    fn admit(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), Closed>;

    /// Refuses one file of a skill that differs from the lock.
    fn admit_file(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), Closed>;

    /// Refuses files that were read together and differ from the lock or from what trust was pinned to. Reads nothing
    /// again: these files are the ones that are used.
    fn admit_tree(&self, skill: &Skill, tree: &HashedTree, left_out: &[String]) -> Result<(), Closed>;

    /// Fetches a file from the skill's server, and verifies its size and digest.
    fn fetch(&self, supplied: &Supplied, path: &str) -> Result<Vec<u8>, Unverified>;

    /// Fetches `SKILL.md` from the skill's server, and verifies its frontmatter too.
    fn fetch_skill_md(&self, supplied: &Supplied) -> Result<Vec<u8>, Unverified>;
}

/// A skill: what was found, and what becomes of it.
#[derive(Debug, Clone)]
pub struct Skill {
    pub(crate) found: Arc<Found>,
    pub(crate) status: Status,
    /// Passed in by the registry; it is no part of what a skill is.
    pub(crate) verify: Arc<dyn Verify>,
}

/// Two skills are equal if their data is; which registry verifies their files makes no difference.
impl PartialEq for Skill {
    fn eq(&self, other: &Self) -> bool {
        self.found == other.found && self.status == other.status
    }
}

impl Deref for Skill {
    type Target = Found;

    fn deref(&self) -> &Found {
        &self.found
    }
}

impl Skill {
    /// What becomes of it.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What its lock says of it; `None` where it was not installed, or the lock cannot be read.
    pub fn locked(&self) -> Option<Locked> {
        self.verify.locked(self)
    }

    /// Fetches and verifies a file of a skill from a server, for a user who decides whether to approve the skill. `None`
    /// for a skill that does not come from a server. This is not a way to load it.
    pub fn inspect(&self, path: &str) -> Option<Result<Vec<u8>, Unverified>> {
        let supplied = self.supplied()?;
        Some(match path {
            "SKILL.md" => self.verify.fetch_skill_md(supplied),
            path => self.verify.fetch(supplied, path),
        })
    }

    /// Whether a model is offered it.
    pub fn is_enabled(&self) -> bool {
        self.status == Status::Enabled
    }

    /// The frontmatter's name, or the folder's where that could not be read. A skill from a server has the user's name for
    /// the server before it: `docs/pdf`.
    pub fn name(&self) -> Cow<'_, str> {
        self.called().map_or_else(|| self.id(), Cow::from)
    }

    /// The description; empty where it could not be read.
    pub fn description(&self) -> &str {
        self.manifest().map_or("", |manifest| manifest.description())
    }
}
