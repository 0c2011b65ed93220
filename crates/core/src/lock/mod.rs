//! What was installed, from where, and with which bytes: `skills.lock` of a project, and the same in the user's state.
//!
//! What must always hold: anybody can recompute from what is on disk what a lock says; a locked skill that is not what
//! its lock says is not loaded, unless the user accepted exactly what is there; and a lock that is there and cannot be
//! read vouches for nothing.

mod book;
mod integrity;

use std::io;
use std::path::PathBuf;

pub(crate) use book::Book;
pub(crate) use integrity::{Compared, Integrity};

pub use crate::lock_file::{
    AuditRecord, Capabilities, Change, Comparison, FILE, Granted, Lock, LockError, Locked, NEWER, Pending,
    Replacement, accept, accepted, compare, forget, project_file, user_file,
};
use crate::skill::Skill;
use crate::surroundings::Surroundings;
use prowess_fs::{Durable, Guard, write_whole};

/// Removes what killed processes staged in the user's state.
pub fn clear(world: &Surroundings) -> io::Result<()> {
    let Some(state) = world.state() else { return Ok(()) };
    ["trust.json", "accepted.json", "hashes.json", "usage.json"]
        .iter()
        .try_for_each(|file| prowess_fs::clear(&state.join(file)))
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
