//! What was installed, from where, and with which bytes: `skills.lock` of a project, and the same in the user's state.
//!
//! What must always hold: anybody can recompute from what is on disk what a lock says; a locked skill that is not what
//! its lock says is not loaded, unless the user accepted exactly what is there; and a lock that is there and cannot be
//! read vouches for nothing.

mod accepted;
mod book;
mod compare;
mod file;
mod granted;
mod integrity;

pub use accepted::{accept, accepted, forget};
pub(crate) use book::Book;
pub use compare::{Change, Comparison, compare};
pub use file::{AuditRecord, Capabilities, Lock, LockError, Locked, NEWER, Pending, Replacement};
pub use granted::{Granted, file_of, record};
pub(crate) use integrity::{Compared, Integrity};

use std::path::{Path, PathBuf};

use crate::surroundings::Surroundings;

/// The file of a project.
pub const FILE: &str = "skills.lock";

/// Where a project keeps what it installed.
pub fn project_file(project: &Path) -> PathBuf {
    project.join(FILE)
}

/// Removes what killed processes staged in the user's state.
pub fn clear(world: &Surroundings) -> std::io::Result<()> {
    let Some(state) = world.state() else { return Ok(()) };
    ["trust.json", "accepted.json", "hashes.json", "usage.json"]
        .iter()
        .try_for_each(|file| prowess_fs::clear(&state.join(file)))
}

/// Where the user's state keeps what the user installed; `None` without a home.
pub fn user_file(world: &Surroundings) -> Option<PathBuf> {
    Some(world.state()?.join("installed.json"))
}
