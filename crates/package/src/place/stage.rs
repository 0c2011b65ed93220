//! A private folder beside the destination, where everything is made before it is seen.
//!
//! What must always hold: a stage belongs to a living process that holds its `owner` file locked; any other is what a
//! killed process left, and the next one removes it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use prowess_fs::{Fingerprint, Stat, make_private_folder, try_hold};

use crate::error::PackageError;

/// What stages are called. The point keeps scanners out, ours and others'.
pub(crate) const PREFIX: &str = ".prowess-staging-";

/// How many names are tried.
const TRIES_MAX: u32 = 100;

/// The folder, which goes away with this value.
#[derive(Debug)]
pub(crate) struct Stage {
    path: PathBuf,
    /// Folders that were made on the way to it, the outermost first.
    made: Vec<PathBuf>,
    kept: bool,
    _owner: File,
}

impl Stage {
    /// Makes a stage in a directory of skills, after sweeping away what was left there. The caller holds the guard.
    pub(crate) fn make(root: &Path) -> Result<Self, PackageError> {
        let failed = || PackageError::io("made", root);
        let made: Vec<PathBuf> =
            root.ancestors().take_while(|folder| !folder.exists()).map(Into::into).collect();
        fs::create_dir_all(root).map_err(failed())?;
        sweep(root);
        let path = match free_folder(root) {
            Ok(path) => path,
            Err(error) => {
                remove_empty(&made);
                return Err(PackageError::io("written to", root)(error));
            }
        };
        match try_hold(&path.join("owner")) {
            Ok(Some(owner)) => {
                Ok(Self { path, made: made.into_iter().rev().collect(), kept: false, _owner: owner })
            }
            held => {
                // Nothing is left behind; the failure itself is the news.
                let _ = fs::remove_dir_all(&path);
                remove_empty(&made);
                let busy = || std::io::ErrorKind::ResourceBusy.into();
                Err(PackageError::io("written to", root)(held.err().unwrap_or_else(busy)))
            }
        }
    }

    /// Where the new folder of a skill is made.
    pub(crate) fn new_folder(&self, name: &str) -> PathBuf {
        new_folder(&self.path, name)
    }

    /// A folder for what is fetched.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Leaves the folder for the next run.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // What cannot be removed is swept away by the next run.
        let _ = fs::remove_dir_all(&self.path);
        let made: Vec<PathBuf> = self.made.iter().rev().cloned().collect();
        remove_empty(&made);
    }
}

/// Makes a folder with a name that nothing has. Processes in two containers can have one number, and so can what somebody
/// put there; and whoever made the directory for nothing removes it again, perhaps just now.
fn free_folder(root: &Path) -> std::io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut tries = 0;
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let made = fs::create_dir_all(root).and_then(|()| make_private_folder(&path));
        tries += 1;
        match made {
            Ok(()) => return Ok(path),
            Err(error) if tries < TRIES_MAX && is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_passing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotFound)
}

/// What tells a stage from any other folder of its name: its owner's number on the disk, and when it was made. Whoever
/// writes a lock for strangers knows neither.
pub(crate) fn identity(stage: &Path) -> Option<String> {
    let owner = Stat::at(&stage.join("owner")).ok().filter(Stat::is_file)?;
    let [_, inode, _, _, _, changed, nanoseconds] = Fingerprint::of(&owner).numbers();
    Some(format!("{inode}-{changed}.{nanoseconds:09}"))
}

/// Where a stage keeps what goes to a folder of this name.
pub(crate) fn new_folder(stage: &Path, name: &str) -> PathBuf {
    stage.join("new").join(name)
}

/// Where a stage keeps what was there before, on systems that cannot exchange two folders.
pub(crate) fn old_folder(stage: &Path, name: &str) -> PathBuf {
    stage.join("old").join(name)
}

/// Removes the stages of processes that are gone. The caller holds the guard.
pub(crate) fn sweep(root: &Path) {
    for path in left(root) {
        // What cannot be removed is in nobody's way.
        let _ = fs::remove_dir_all(&path);
    }
}

/// The stages of processes that are gone.
pub(crate) fn left(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let stages = entries.filter(|entry| {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        ours && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    stages.map(|entry| entry.path()).filter(|path| is_over(path))
}

/// Whether nobody holds a stage. Stages are made under the guard, so one without an owner has lost it.
fn is_over(stage: &Path) -> bool {
    fs::symlink_metadata(stage.join("owner")).is_err()
        || matches!(try_hold(&stage.join("owner")), Ok(Some(_)))
}

/// Removes folders that were made for nothing; one that is not empty stays, as do those above it.
fn remove_empty(innermost_first: &[PathBuf]) {
    for folder in innermost_first {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_leaves_nothing_and_sweeps_only_what_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(".agents/skills");
        let first = Stage::make(&root).unwrap();
        let left = root.join(".prowess-staging-1-0");
        fs::create_dir_all(left.join("new/a")).unwrap();
        fs::write(left.join("owner"), "").unwrap();
        let second = Stage::make(&root).unwrap();
        assert!(first.path().exists() && second.path().exists() && !left.exists());
        drop(second);
        assert!(root.exists());
        drop(first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
