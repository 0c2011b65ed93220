//! What the user granted to an installed skill, written down in its lock.
//!
//! What must always hold: this is a record. Nothing is granted because a lock says so; a project's lock is a file from
//! strangers.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::file::{Lock, Locked};
use super::{project_file, user_file};
use crate::registry::Skill;
use crate::surroundings::Surroundings;
use prowess_fs::{Durable, Guard, write_whole};

/// What the user granted to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Granted {
    /// Whether its scripts reach the network.
    pub network: bool,
    /// The variables that it is passed, of those that it asks for.
    pub env: BTreeSet<String>,
}

impl Granted {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        !self.network && self.env.is_empty()
    }

    /// What `new` has and this does not.
    #[must_use]
    pub fn difference(&self, new: &Self) -> Self {
        Self { network: new.network && !self.network, env: new.env.difference(&self.env).cloned().collect() }
    }

    /// In words: `the network, GITHUB_TOKEN`, or `nothing`.
    pub fn told(&self) -> String {
        let network = self.network.then_some("the network");
        let all: Vec<&str> = network.into_iter().chain(self.env.iter().map(String::as_str)).collect();
        if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
    }
}

/// The lock that speaks for a skill that was installed.
pub fn file_of(skill: &Skill, locked: &Locked, world: &Surroundings) -> Option<PathBuf> {
    match (locked.folder.starts_with(['~', '/']), skill.root().base()) {
        (false, Some(base)) => Some(project_file(base)),
        _ => user_file(world),
    }
}

/// Writes down what is granted to a skill, where a lock speaks for it and says something else.
pub fn record(skill: &Skill, granted: &Granted, world: &Surroundings) -> io::Result<()> {
    let Some(locked) = skill.locked().filter(|locked| locked.granted != *granted) else { return Ok(()) };
    let Some(path) = file_of(skill, &locked, world) else { return Ok(()) };
    let _guard = Guard::take(&path)?;
    let mut lock = Lock::read(&path).map_err(io::Error::other)?;
    let Some(known) = lock.skills.iter_mut().find(|known| known.folder == locked.folder) else {
        return Ok(());
    };
    known.granted = granted.clone();
    let mode = if locked.folder.starts_with(['~', '/']) { 0o600 } else { 0o644 };
    write_whole(&path, &lock.to_bytes(), mode, Durable::Yes)
}
