//! Installed skills, their sources and file digests: `skills.lock` in a project, and its counterpart in the
//! user's state.
//!
//! Invariants: everything in a lock file can be recomputed from the files on disk; an installed skill that
//! differs from its lock file is not loaded unless the user accepted exactly its current files with
//! `prowess verify --accept`; and no installed skill is loaded while its lock file cannot be read.

mod index;
mod integrity;

use std::io;
use std::path::PathBuf;

pub(crate) use index::LockIndex;
pub(crate) use integrity::{IntegrityCheck, IntegrityInputs};

use crate::host_env::HostEnv;
pub use crate::lock_file::{
    AuditRecord, Capabilities, FileChange, GrantedAccess, LOCK_FILE_NAME, LockComparison, LockEntry,
    LockFile, NEWER_VERSION, PendingChange, ReadLockError, Replacement, accept_tree, accepted_tree,
    compare_with_lock, forget_accepted, project_lock_path, user_lock_path,
};
use crate::skill::Skill;
use prowess_fs::{LockGuard, SyncPolicy, write_atomic};

/// Removes the temporary files that killed processes left in the user's state.
pub fn remove_stale_temp_files(host: &HostEnv) -> io::Result<()> {
    let Some(state) = host.state_dir() else { return Ok(()) };
    ["trust.json", "accepted.json", "hashes.json", "usage.json"]
        .iter()
        .try_for_each(|file| prowess_fs::remove_staged(&state.join(file)))
}

/// Returns the path of the lock file that covers an installed skill.
pub fn lock_path_for_skill(skill: &Skill, locked: &LockEntry, host: &HostEnv) -> Option<PathBuf> {
    match (locked.folder.starts_with(['~', '/']), skill.root().base()) {
        (false, Some(base)) => Some(project_lock_path(base)),
        _ => user_lock_path(host),
    }
}

/// Records the grants to a skill in its lock file, if they changed.
pub fn record_grants(skill: &Skill, granted: &GrantedAccess, host: &HostEnv) -> io::Result<()> {
    let Some(locked) = skill.lock_entry().filter(|locked| locked.granted != *granted) else { return Ok(()) };
    let Some(path) = lock_path_for_skill(skill, &locked, host) else { return Ok(()) };
    let _guard = LockGuard::acquire(&path)?;
    let mut lock = LockFile::read(&path).map_err(io::Error::other)?;
    let Some(entry) = lock.skills.iter_mut().find(|entry| entry.folder == locked.folder) else {
        return Ok(());
    };
    entry.granted = granted.clone();
    let mode = if locked.folder.starts_with(['~', '/']) { 0o600 } else { 0o644 };
    write_atomic(&path, &lock.to_bytes(), mode, SyncPolicy::Sync)
}
