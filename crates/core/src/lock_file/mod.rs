//! The lock file and the user's acceptances, as they are written. Nothing here knows what a skill is.

pub(crate) mod accepted;
mod compare;
mod file;
mod granted;

pub use accepted::{accept, accepted, forget};
pub use compare::{Change, Comparison, compare};
pub(crate) use file::place;
pub use file::{AuditRecord, Lock, LockError, Locked, NEWER, Pending, Replacement};
pub use granted::Granted;
pub use prowess_format::Capabilities;

use std::path::{Path, PathBuf};

use crate::surroundings::Surroundings;

/// The file of a project.
pub const FILE: &str = "skills.lock";

/// Where a project keeps what it installed.
pub fn project_file(project: &Path) -> PathBuf {
    project.join(FILE)
}

/// Where the user's state keeps what the user installed; `None` without a home.
pub fn user_file(world: &Surroundings) -> Option<PathBuf> {
    Some(world.state()?.join("installed.json"))
}
