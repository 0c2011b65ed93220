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
use crate::lock_file::merge_pinned;
pub use crate::lock_file::{
    AuditRecord, Capabilities, EnvironmentKind, FileChange, GrantedAccess, LOCK_FILE_NAME, LinkAction,
    LockComparison, LockEntry, LockFile, LockedPlugin, NEWER_VERSION, PendingChange, PendingLink,
    PinnedEnvironment, ReadLockError, Replacement, ResolvedPackage, ResolvedSet, accept_tree, accepted_tree,
    compare_with_lock, forget_accepted, is_environment_id, is_package_name, is_version,
    normalize_package_name, project_lock_path, user_lock_path,
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
    change_entry(skill, &locked, host, |entry| entry.granted = granted.clone())
}

/// Pins environments of an installed skill in its lock file. Those for other requirements or interpreters are kept.
pub fn record_environments(skill: &Skill, pinned: &[PinnedEnvironment], host: &HostEnv) -> io::Result<()> {
    let Some(locked) = skill.lock_entry() else { return Ok(()) };
    if merge_pinned(&locked.environments, pinned) == locked.environments {
        return Ok(());
    }
    change_entry(skill, &locked, host, |entry| {
        entry.environments = merge_pinned(&entry.environments, pinned);
    })
}

/// Removes pinned environments of an installed skill that `is_needed` does not accept.
pub fn retain_environments(
    skill: &Skill,
    host: &HostEnv,
    is_needed: impl Fn(&PinnedEnvironment) -> bool,
) -> io::Result<()> {
    let Some(locked) = skill.lock_entry() else { return Ok(()) };
    if locked.environments.iter().all(&is_needed) {
        return Ok(());
    }
    change_entry(skill, &locked, host, |entry| entry.environments.retain(&is_needed))
}

/// Changes the entry of a skill in its lock file at once.
fn change_entry(
    skill: &Skill,
    locked: &LockEntry,
    host: &HostEnv,
    change: impl FnOnce(&mut LockEntry),
) -> io::Result<()> {
    let Some(path) = lock_path_for_skill(skill, locked, host) else { return Ok(()) };
    let _guard = LockGuard::acquire(&path)?;
    let mut lock = LockFile::read(&path).map_err(io::Error::other)?;
    let Some(entry) = lock.skills.iter_mut().find(|entry| entry.folder == locked.folder) else {
        return Ok(());
    };
    change(entry);
    let mode = if locked.folder.starts_with(['~', '/']) { 0o600 } else { 0o644 };
    write_atomic(&path, &lock.to_bytes(), mode, SyncPolicy::Sync)
}
