//! Installs staged skills: all of them or none, even if the process is killed.
//!
//! 1. The lock file records the changes as `pending`. The old state is valid, and the new one is allowed.
//! 2. Each directory is swapped with one rename.
//! 3. Symlinks and copies for other agents are created and removed.
//! 4. The lock file records the new state.
//!
//! If the process is killed before 1, nothing has happened. After 1, the next run repeats 2 to 4: each step is
//! idempotent, and the stage contains everything it needs. If a step fails, all changes are undone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prowess::lock::{LockFile, PendingChange, Replacement};
use prowess::{HashedTree, trust};
use prowess_fs::exchange;

use super::InstallTarget;
use super::links::{LinkChange, LinkEffect};
use super::plugin_records;
use super::stage::{self, new_dir, old_dir};
use crate::error::PackageError;
use crate::interchange::link::LinkError;

/// The result of each symlink and copy of a change, in order.
pub(crate) type LinkResults = Vec<Result<LinkEffect, LinkError>>;

/// Installs the staged skills. The caller holds the lock and has recovered the target.
pub(crate) fn commit_changes(
    target: &InstallTarget,
    stage: &Path,
    changes: Vec<Replacement>,
    links: &[LinkChange],
    trust_policy: TrustPolicy,
    now: &str,
) -> Result<LinkResults, PackageError> {
    let before = LockFile::read(&target.lock_path)?;
    let perform_links = || links.iter().map(|link| link.perform(target, &before)).collect::<LinkResults>();
    if changes.is_empty() {
        return Ok(perform_links());
    }
    let plugin_records = plugin_records::plan_plugin_records(target, &before, &changes, now)?;
    let trust = TrustTransition::new(target, &changes, trust_policy);
    let mut lock = before.clone();
    let owner = stage::stage_id(stage).unwrap_or_default();
    let pending_links = links.iter().map(|link| link.to_pending(target)).collect();
    lock.pending = Some(PendingChange {
        stage: stage.to_owned(),
        owner,
        changes: changes.clone(),
        links: pending_links,
    });
    // A process that recovers this change does not set trust, so trust is set first.
    trust.set(target, TrustedStates::Both);
    target.write_lock(&lock).inspect_err(|_| trust.set(target, TrustedStates::Before))?;
    let mut done = Vec::new();
    let mut link_results = LinkResults::new();
    let result =
        swap_all(target, stage, &changes, &mut done).and_then(|()| plugin_records.perform()).and_then(|()| {
            link_results = perform_links();
            write_final_lock(target, &mut lock, &changes)
        });
    let Err(error) = result else {
        trust.set(target, TrustedStates::After);
        return Ok(link_results);
    };
    let mut is_undone = true;
    for dir in done.iter().rev() {
        is_undone &= undo_swap(stage, dir).is_ok();
    }
    if is_undone {
        for (link, result) in links.iter().zip(&link_results) {
            if let Ok(effect) = result {
                link.undo(*effect);
            }
        }
        plugin_records.undo();
        // If this cannot be written, the next run completes the pending change.
        let _ = target.write_lock(&before);
        trust.set(target, TrustedStates::Before);
    }
    Err(error)
}

/// Completes the pending changes of a killed process. The caller holds the lock.
pub(crate) fn recover_pending(target: &InstallTarget, now: &str) -> Result<(), PackageError> {
    let before = LockFile::read(&target.lock_path)?;
    let Some(pending) = before.pending.clone() else { return Ok(()) };
    let mut lock = before.clone();
    let is_own_stage = is_own_stage(target, &pending);
    let mut completed = Vec::new();
    for change in &pending.changes {
        let Ok(dir) = locate(target, &change.folder) else { continue };
        if !is_done(&dir, change) {
            if !is_own_stage {
                // Nothing is moved, and the current lock entries stay valid.
                continue;
            }
            let staged = dir.file_name().map(|name| new_dir(&pending.stage, &name.to_string_lossy()));
            if change.after.is_some() && !staged.is_some_and(|staged| staged.exists()) {
                // The stage was removed, so the old skill stays.
                restore_old(&pending.stage, &dir)?;
                continue;
            }
            swap(&pending.stage, &dir, change)?;
        }
        completed.push(change.clone());
    }
    plugin_records::plan_plugin_records(target, &before, &completed, now)?.perform()?;
    // Like directories, symlinks and copies are changed only for a process on this machine.
    let is_completed = |folder: &str| completed.iter().any(|change| change.folder == folder);
    for pending_link in pending.links.iter().filter(|link| is_own_stage && is_completed(&link.folder)) {
        if let Some(link) = LinkChange::from_pending(pending_link, target) {
            // Those that fail are reported by `prowess sync`.
            let _ = link.perform(target, &before);
        }
    }
    write_final_lock(target, &mut lock, &completed)
}

/// Returns `true` if a process on this machine began the change. A project's lock file is untrusted: it must not
/// cause directories to be moved, even if it refers to a stage that was created together with it.
fn is_own_stage(target: &InstallTarget, pending: &PendingChange) -> bool {
    let has_prefix =
        pending.stage.file_name().is_some_and(|name| name.to_string_lossy().starts_with(stage::STAGE_PREFIX));
    let is_dir = fs::symlink_metadata(&pending.stage).is_ok_and(|metadata| metadata.is_dir());
    let has_owner = stage::stage_id(&pending.stage).is_some_and(|owner| owner == pending.owner);
    has_prefix
        && is_dir
        && has_owner
        && pending.changes.iter().all(|change| locate(target, &change.folder).is_ok())
}

fn locate(target: &InstallTarget, dir: &str) -> Result<PathBuf, PackageError> {
    target.dir_for_key(dir)
}

fn swap_all(
    target: &InstallTarget,
    stage: &Path,
    changes: &[Replacement],
    done: &mut Vec<PathBuf>,
) -> Result<(), PackageError> {
    for change in changes {
        let dir = locate(target, &change.folder)?;
        swap(stage, &dir, change)?;
        done.push(dir);
    }
    Ok(())
}

/// Writes the new state to the lock file.
fn write_final_lock(
    target: &InstallTarget,
    lock: &mut LockFile,
    changes: &[Replacement],
) -> Result<(), PackageError> {
    lock.apply(changes);
    lock.pending = None;
    target.write_lock(lock)?;
    let dirs: Vec<PathBuf> =
        changes.iter().map(|change| locate(target, &change.folder)).collect::<Result<_, _>>()?;
    // Leftover acceptances of removed skills do no harm.
    let _ = prowess::lock::forget_accepted(&target.host, dirs.iter().map(PathBuf::as_path));
    Ok(())
}

/// Returns `true` if a change was already performed.
fn is_done(dir: &Path, change: &Replacement) -> bool {
    match &change.after {
        None => fs::symlink_metadata(dir).is_err(),
        Some(after) => HashedTree::from_dir(dir).is_ok_and(|tree| tree.hash() == after.tree),
    }
}

/// Swaps one directory. If the system can exchange names, the skill exists at all times.
fn swap(stage: &Path, dir: &Path, change: &Replacement) -> Result<(), PackageError> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let (new, old) = (new_dir(stage, &name), old_dir(stage, &name));
    let exists = fs::symlink_metadata(dir).is_ok();
    let swapped = match (&change.after, exists) {
        (None, false) => Ok(()),
        (None, true) => rename_noreplace(dir, &old),
        (Some(_), false) => rename_noreplace(&new, dir),
        (Some(_), true) => match exchange(&new, dir) {
            Ok(true) => Ok(()),
            Ok(false) => rename_noreplace(dir, &old).and_then(|()| {
                rename_noreplace(&new, dir).inspect_err(|_| drop(rename_noreplace(&old, dir)))
            }),
            Err(error) => Err(error),
        },
    };
    swapped.map_err(PackageError::io("replace", dir))
}

/// Renames a file or directory. Fails if the target exists.
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    let rename = || prowess_fs::rename_noreplace(from, to);
    match (rename(), to.parent()) {
        // Usually the parent directory exists.
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(parent).and_then(|()| rename())
        }
        (result, _) => result,
    }
}

fn undo_swap(stage: &Path, dir: &Path) -> io::Result<()> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let (new, old) = (new_dir(stage, &name), old_dir(stage, &name));
    if old.exists() {
        if dir.exists() {
            rename_noreplace(dir, &new)?;
        }
        return rename_noreplace(&old, dir);
    }
    if new.exists() {
        return match exchange(&new, dir)? {
            true => Ok(()),
            false => Err(io::ErrorKind::Unsupported.into()),
        };
    }
    if dir.exists() { rename_noreplace(dir, &new) } else { Ok(()) }
}

/// Restores the old directory, on systems that cannot exchange names.
fn restore_old(stage: &Path, dir: &Path) -> Result<(), PackageError> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let old = old_dir(stage, &name);
    match old.exists() && !dir.exists() {
        true => rename_noreplace(&old, dir).map_err(PackageError::io("restore", dir)),
        false => Ok(()),
    }
}

/// Which installed skills become trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustPolicy {
    /// All, because the user requested them.
    TrustNew,
    /// Those that replace a trusted skill, because a project's lock file requested them.
    KeepTrust,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrustedStates {
    Before,
    Both,
    After,
}

/// The trust of installed skills during a change. While a skill is replaced, the old and the new state are trusted.
/// Only the process that the user started sets trust, not a process that recovers a change.
struct TrustTransition(Vec<(PathBuf, Vec<String>, Option<String>)>);

impl TrustTransition {
    fn new(target: &InstallTarget, changes: &[Replacement], trust_policy: TrustPolicy) -> Self {
        if !target.needs_trust {
            return Self(Vec::new());
        }
        let located =
            changes.iter().filter_map(|change| Some((locate(target, &change.folder).ok()?, change)));
        let (dirs, changes): (Vec<PathBuf>, Vec<&Replacement>) = located.unzip();
        let before = trust::installed_pins(&dirs, &target.host);
        let transition = |((dir, before), change): ((PathBuf, Vec<String>), &Replacement)| {
            let is_trusted = trust_policy == TrustPolicy::TrustNew || !before.is_empty();
            let after = change.after.as_ref().filter(|_| is_trusted).map(|locked| locked.tree.clone());
            (dir, before, after)
        };
        Self(dirs.into_iter().zip(before).zip(changes).map(transition).collect())
    }

    fn set(&self, target: &InstallTarget, states: TrustedStates) {
        let trees = |(dir, before, after): &(PathBuf, Vec<String>, Option<String>)| {
            let before = before.iter().filter(|_| states != TrustedStates::After);
            let after = after.iter().filter(|_| states != TrustedStates::Before);
            (dir.clone(), before.chain(after).cloned().collect())
        };
        let all: Vec<(PathBuf, Vec<String>)> = self.0.iter().map(trees).collect();
        // If trust cannot be written, the user is asked for it when the skill is listed.
        let _ = trust::pin_installed(&all, &target.host);
    }
}
