//! Verifies installed skills against the lock file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prowess::lock::{FileChange, LockComparison, LockEntry, LockFile, compare_with_lock};
use prowess::{HashedTree, lock};

use super::InstallTarget;
use crate::error::PackageError;
use prowess_fs::parallel_map;

/// Compares an installed directory with its lock entry.
pub(crate) fn check_installed(
    target: &InstallTarget,
    locked: &LockEntry,
) -> Result<(PathBuf, InstalledState), PackageError> {
    let dir = target.dir(locked)?;
    let state = check_dir(&dir, locked);
    Ok((dir, state))
}

/// Compares a directory with its lock entry; see [`check_installed`].
pub(crate) fn check_dir(dir: &Path, locked: &LockEntry) -> InstalledState {
    match std::fs::symlink_metadata(dir) {
        Err(_) => InstalledState::Missing,
        Ok(metadata) if metadata.is_symlink() => InstalledState::Symlink,
        Ok(_) => {
            let comparison = compare_with_lock(locked, &HashedTree::from_dir(dir));
            if comparison.is_unchanged() {
                InstalledState::Unchanged
            } else {
                InstalledState::Modified(comparison)
            }
        }
    }
}

/// The state of an installed directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InstalledState {
    Unchanged,
    Missing,
    Symlink,
    Modified(LockComparison),
}

prowess_format::named_enum! {
    /// The result of verifying a skill.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum VerificationStatus {
        /// The files are identical to the installed ones.
        Ok = "ok",
        /// Files differ or are missing.
        Modified = "modified",
        /// The directory does not exist.
        Missing = "missing",
        /// There are only additional files.
        Extra = "extra",
        /// The skill is not in the lock file.
        Unlocked = "unlocked",
        /// The directory or a file was replaced by a symlink.
        Symlink = "link",
    }
}

/// A verified skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSkill {
    /// The name.
    pub name: String,
    /// The directory.
    pub dir: PathBuf,
    /// The result.
    pub status: VerificationStatus,
    /// The files that differ, and how.
    pub files: Vec<(String, FileChange)>,
    /// Another problem.
    pub problem: Option<String>,
    /// Whether the user accepted the current files.
    pub accepted: bool,
    /// The lock entry.
    pub locked: Option<LockEntry>,
}

/// Verifies all skills of a target, sorted by name. Skills that are not in the lock file are `unlocked`.
pub fn verify_skills(target: &InstallTarget) -> Result<Vec<VerifiedSkill>, PackageError> {
    let lock = target.clean_up_and_read().or_else(|error| {
        let lock = LockFile::read(&target.lock_path)?;
        // In a read-only directory, leftovers are acceptable, but pending changes are not.
        if lock.pending.is_some() { Err(error) } else { Ok(lock) }
    })?;
    let dirs = target.dirs(&lock.skills)?;
    let located: Vec<(PathBuf, &LockEntry)> = dirs.into_iter().zip(&lock.skills).collect();
    // Hashing takes most of the time, so it runs in parallel.
    let mut verified: Vec<VerifiedSkill> =
        parallel_map(&located, 1, |(dir, locked)| verify_entry(target, dir, locked));
    for (verified, locked) in verified.iter_mut().zip(lock.skills) {
        verified.locked = Some(locked);
    }
    let locked_dirs: HashSet<&Path> = verified.iter().map(|verified| verified.dir.as_path()).collect();
    let mut roots: HashSet<&Path> = locked_dirs.iter().filter_map(|dir| dir.parent()).collect();
    roots.insert(&target.root);
    let unlocked: Vec<VerifiedSkill> =
        roots.into_iter().flat_map(|root| find_unlocked(root, &locked_dirs)).collect();
    verified.extend(unlocked);
    verified.sort_by(|a, b| (&a.name, &a.dir).cmp(&(&b.name, &b.dir)));
    Ok(verified)
}

/// Verifies a skill. The result does not contain the lock entry.
fn verify_entry(target: &InstallTarget, dir: &Path, locked: &LockEntry) -> VerifiedSkill {
    let state = check_dir(dir, locked);
    let mut verified = VerifiedSkill {
        name: locked.name.clone(),
        dir: dir.to_owned(),
        status: VerificationStatus::Ok,
        files: Vec::new(),
        problem: None,
        accepted: false,
        locked: None,
    };
    match state {
        InstalledState::Unchanged => {}
        InstalledState::Missing => verified.status = VerificationStatus::Missing,
        InstalledState::Symlink => verified.status = VerificationStatus::Symlink,
        InstalledState::Modified(comparison) => {
            let all = |kind: FileChange| {
                let mut changes = comparison.files.iter().map(|(_, change)| *change);
                comparison.problem.is_none() && changes.all(|change| change == kind)
            };
            verified.status = match comparison.files.iter().any(|(_, change)| *change == FileChange::Link) {
                true => VerificationStatus::Symlink,
                false if all(FileChange::Extra) => VerificationStatus::Extra,
                false => VerificationStatus::Modified,
            };
            verified.accepted = is_accepted(target, &verified.dir);
            verified.files = comparison.files;
            verified.problem = comparison.problem;
        }
    }
    verified
}

/// Returns `true` if the user accepted the current files of a modified skill.
pub(crate) fn is_accepted(target: &InstallTarget, dir: &Path) -> bool {
    let tree = HashedTree::from_dir(dir).ok().map(|tree| tree.hash());
    let canonical = std::fs::canonicalize(dir).unwrap_or_default();
    tree.is_some() && lock::accepted_tree(&target.host, &canonical) == tree
}

/// Accepts the current files of a skill, and trusts them if required.
pub fn accept_modified(target: &InstallTarget, verified: &VerifiedSkill) -> Result<(), PackageError> {
    let dir = canonicalize(&verified.dir)?;
    let tree = HashedTree::from_resolved_dir(&dir)?.hash();
    lock::accept_tree(&target.host, &dir, &tree).map_err(PackageError::io("accept", &dir))?;
    if target.needs_trust {
        let failed = |error: prowess::trust::TrustError| PackageError::FetchFailed {
            code: prowess::ErrorCode::ExecutionError,
            message: error.to_string(),
            hint: None,
        };
        prowess::trust::pin_installed(&[(dir, vec![tree])], &target.host).map_err(failed)?;
    }
    Ok(())
}

fn canonicalize(dir: &Path) -> Result<PathBuf, PackageError> {
    std::fs::canonicalize(dir).map_err(PackageError::io("find", dir))
}

/// Returns the skills of a directory that are not in the lock file.
fn find_unlocked(root: &Path, locked_dirs: &HashSet<&Path>) -> Vec<VerifiedSkill> {
    let dirs = std::fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let is_unlocked = |path: &PathBuf| {
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        !is_hidden && !locked_dirs.contains(path.as_path()) && path.join("SKILL.md").exists()
    };
    let verified = |dir: PathBuf| VerifiedSkill {
        name: dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        dir,
        status: VerificationStatus::Unlocked,
        files: Vec::new(),
        problem: None,
        accepted: false,
        locked: None,
    };
    dirs.map(|entry| entry.path()).filter(is_unlocked).map(verified).collect()
}
