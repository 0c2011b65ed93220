//! Swapping in what was prepared: all of it or nothing, whatever happens in between.
//!
//! 1. The lock says what is about to change (`pending`); the old state still counts, and the new one is allowed.
//! 2. Each folder is swapped with one rename.
//! 3. The lock says the new state.
//!
//! Killed before 1, nothing has happened. Killed after it, the next run does 2 and 3 again: each step can be repeated,
//! and everything it needs is in the stage. Anything that fails is taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prowess::lock::{Lock, Pending, Replacement};
use prowess::{HashedTree, trust};
use prowess_fs::{exchange, rename_new};

use super::Place;
use super::stage::{self, new_folder, old_folder};
use super::track;
use crate::error::PackageError;

/// Swaps in what is staged. The caller holds the guard and has recovered the place.
pub(crate) fn commit(
    place: &Place,
    stage: &Path,
    changes: Vec<Replacement>,
    trusts: Trusts,
    now: &str,
) -> Result<(), PackageError> {
    if changes.is_empty() {
        return Ok(());
    }
    let before = Lock::read(&place.lock)?;
    let followed = track::plan(place, &before, &changes, now)?;
    let trusted = Trusted::of(place, &changes, trusts);
    let mut lock = before.clone();
    let owner = stage::identity(stage).unwrap_or_default();
    lock.pending = Some(Pending { stage: stage.to_owned(), owner, changes: changes.clone() });
    // Whoever finishes this later trusts nothing by himself, so trust comes first.
    trusted.set(place, Wanted::Both);
    place.write(&lock).inspect_err(|_| trusted.set(place, Wanted::Before))?;
    let mut done = Vec::new();
    let result = perform(place, stage, &changes, &mut done)
        .and_then(|()| followed.perform())
        .and_then(|()| finish(place, &mut lock, &changes));
    let Err(error) = result else {
        trusted.set(place, Wanted::After);
        return Ok(());
    };
    let mut taken_back = true;
    for folder in done.iter().rev() {
        taken_back &= take_back(stage, folder).is_ok();
    }
    if taken_back {
        followed.take_back();
        // If not even this can be written, the pending change is done by the next run.
        let _ = place.write(&before);
        trusted.set(place, Wanted::Before);
    }
    Err(error)
}

/// Finishes what a killed process began. The caller holds the guard.
pub(crate) fn recover(place: &Place, now: &str) -> Result<(), PackageError> {
    let before = Lock::read(&place.lock)?;
    let Some(pending) = before.pending.clone() else { return Ok(()) };
    let mut lock = before.clone();
    let is_ours = is_ours(place, &pending);
    let mut happened = Vec::new();
    for change in &pending.changes {
        let Ok(folder) = locate(place, &change.folder) else { continue };
        if !is_done(&folder, change) {
            if !is_ours {
                // Nothing is moved, and what the lock says of the present still counts.
                continue;
            }
            let staged = folder.file_name().map(|name| new_folder(&pending.stage, &name.to_string_lossy()));
            if change.after.is_some() && !staged.is_some_and(|staged| staged.exists()) {
                // Somebody removed the stage; what is there is what was there.
                put_back(&pending.stage, &folder)?;
                continue;
            }
            swap(&pending.stage, &folder, change)?;
        }
        happened.push(change.clone());
    }
    track::plan(place, &before, &happened, now)?.perform()?;
    finish(place, &mut lock, &happened)
}

/// Whether one of our processes began a change, here. A project's lock is a file from strangers: it must not make us
/// move folders about, even if it names a stage that came along with it.
fn is_ours(place: &Place, pending: &Pending) -> bool {
    let named =
        pending.stage.file_name().is_some_and(|name| name.to_string_lossy().starts_with(stage::PREFIX));
    let is_folder = fs::symlink_metadata(&pending.stage).is_ok_and(|there| there.is_dir());
    let made = stage::identity(&pending.stage).is_some_and(|owner| owner == pending.owner);
    named && is_folder && made && pending.changes.iter().all(|change| locate(place, &change.folder).is_ok())
}

fn locate(place: &Place, folder: &str) -> Result<PathBuf, PackageError> {
    place.locate(folder)
}

fn perform(
    place: &Place,
    stage: &Path,
    changes: &[Replacement],
    done: &mut Vec<PathBuf>,
) -> Result<(), PackageError> {
    for change in changes {
        let folder = locate(place, &change.folder)?;
        swap(stage, &folder, change)?;
        done.push(folder);
    }
    Ok(())
}

/// Says in the lock what is there now.
fn finish(place: &Place, lock: &mut Lock, changes: &[Replacement]) -> Result<(), PackageError> {
    lock.apply(changes);
    lock.pending = None;
    place.write(lock)?;
    let folders: Vec<PathBuf> =
        changes.iter().map(|change| locate(place, &change.folder)).collect::<Result<_, _>>()?;
    // That something was accepted for what is gone harms nobody.
    let _ = prowess::lock::forget(&place.world, folders.iter().map(PathBuf::as_path));
    Ok(())
}

/// Whether a change has happened already.
fn is_done(folder: &Path, change: &Replacement) -> bool {
    match &change.after {
        None => fs::symlink_metadata(folder).is_err(),
        Some(after) => HashedTree::of(folder).is_ok_and(|tree| tree.hash() == after.tree),
    }
}

/// Swaps one folder. There is no moment in which a skill that stays is not there, where the system can exchange names.
fn swap(stage: &Path, folder: &Path, change: &Replacement) -> Result<(), PackageError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let (new, old) = (new_folder(stage, &name), old_folder(stage, &name));
    let there = fs::symlink_metadata(folder).is_ok();
    let swapped = match (&change.after, there) {
        (None, false) => Ok(()),
        (None, true) => move_to(folder, &old),
        (Some(_), false) => move_to(&new, folder),
        (Some(_), true) => match exchange(&new, folder) {
            Ok(true) => Ok(()),
            Ok(false) => move_to(folder, &old)
                .and_then(|()| move_to(&new, folder).inspect_err(|_| drop(move_to(&old, folder)))),
            Err(error) => Err(error),
        },
    };
    swapped.map_err(PackageError::io("replaced", folder))
}

/// Renames, and never onto something that is there.
pub(crate) fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    let moved = || rename_new(from, to);
    match (moved(), to.parent()) {
        // Most often the folder that it goes to is there.
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(parent).and_then(|()| moved())
        }
        (result, _) => result,
    }
}

/// Undoes a swap.
fn take_back(stage: &Path, folder: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let (new, old) = (new_folder(stage, &name), old_folder(stage, &name));
    if old.exists() {
        if folder.exists() {
            move_to(folder, &new)?;
        }
        return move_to(&old, folder);
    }
    if new.exists() {
        return match exchange(&new, folder)? {
            true => Ok(()),
            false => Err(io::ErrorKind::Unsupported.into()),
        };
    }
    if folder.exists() { move_to(folder, &new) } else { Ok(()) }
}

/// Restores what was moved away, on systems that cannot exchange names.
fn put_back(stage: &Path, folder: &Path) -> Result<(), PackageError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let old = old_folder(stage, &name);
    match old.exists() && !folder.exists() {
        true => move_to(&old, folder).map_err(PackageError::io("restored", folder)),
        false => Ok(()),
    }
}

/// What the user trusts by a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trusts {
    /// What it brings: the user named it.
    New,
    /// What it brings, where what was there was trusted: a project's lock named it.
    Known,
}

/// Which states the user's trust covers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Before,
    Both,
    After,
}

/// Whoever installs a skill trusts it as it is; while it is being replaced, that holds for what was trusted before, too.
/// Only the process that the user started trusts anything: one that finishes another's work does not.
struct Trusted(Vec<(PathBuf, Vec<String>, Option<String>)>);

impl Trusted {
    fn of(place: &Place, changes: &[Replacement], trusts: Trusts) -> Self {
        if !place.needs_trust {
            return Self(Vec::new());
        }
        let located = changes.iter().filter_map(|change| Some((locate(place, &change.folder).ok()?, change)));
        let (folders, changes): (Vec<PathBuf>, Vec<&Replacement>) = located.unzip();
        let before = trust::trusted_installed(&folders, &place.world);
        let known = |((folder, before), change): ((PathBuf, Vec<String>), &Replacement)| {
            let carries = trusts == Trusts::New || !before.is_empty();
            let after = change.after.as_ref().filter(|_| carries).map(|locked| locked.tree.clone());
            (folder, before, after)
        };
        Self(folders.into_iter().zip(before).zip(changes).map(known).collect())
    }

    fn set(&self, place: &Place, wanted: Wanted) {
        let trees = |(folder, before, after): &(PathBuf, Vec<String>, Option<String>)| {
            let before = before.iter().filter(|_| wanted != Wanted::After);
            let after = after.iter().filter(|_| wanted != Wanted::Before);
            (folder.clone(), before.chain(after).cloned().collect())
        };
        let all: Vec<(PathBuf, Vec<String>)> = self.0.iter().map(trees).collect();
        // Trust that cannot be written down is asked for when the skill is listed.
        let _ = trust::trust_installed(&all, &place.world);
    }
}
