//! A private directory next to the target, in which skills are prepared before they become visible.
//!
//! Invariant: a stage belongs to a running process that locks its `owner` file. Other stages are leftovers of killed
//! processes, which the next process removes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use prowess_fs::{Fingerprint, Stat, create_private_dir, try_lock};

use crate::error::PackageError;

/// The prefix of the names of stages. Scanners ignore names that start with a dot.
pub(crate) const STAGE_PREFIX: &str = ".prowess-staging-";

/// The maximum number of attempts to find a free name.
const ATTEMPTS_MAX: u32 = 100;

/// A stage, which is removed on drop.
#[derive(Debug)]
pub(crate) struct Stage {
    path: PathBuf,
    /// Parent directories that were created for it, outermost first.
    created_dirs: Vec<PathBuf>,
    is_kept: bool,
    _owner: File,
}

impl Stage {
    /// Creates a stage in a directory of skills, after removing abandoned ones. The caller holds the lock.
    pub(crate) fn create(root: &Path) -> Result<Self, PackageError> {
        let failed = || PackageError::io("create", root);
        let created_dirs: Vec<PathBuf> =
            root.ancestors().take_while(|dir| !dir.exists()).map(Into::into).collect();
        fs::create_dir_all(root).map_err(failed())?;
        remove_abandoned(root);
        let path = match create_unique_dir(root) {
            Ok(path) => path,
            Err(error) => {
                remove_empty(&created_dirs);
                return Err(PackageError::io("write to", root)(error));
            }
        };
        match try_lock(&path.join("owner")) {
            Ok(Some(owner)) => Ok(Self {
                path,
                created_dirs: created_dirs.into_iter().rev().collect(),
                is_kept: false,
                _owner: owner,
            }),
            result => {
                // Only the original error is reported.
                let _ = fs::remove_dir_all(&path);
                remove_empty(&created_dirs);
                let busy = || std::io::ErrorKind::ResourceBusy.into();
                Err(PackageError::io("write to", root)(result.err().unwrap_or_else(busy)))
            }
        }
    }

    /// Returns the path for the new directory of a skill.
    pub(crate) fn new_dir(&self, name: &str) -> PathBuf {
        new_dir(&self.path, name)
    }

    /// Returns the path of a directory for fetched data.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Keeps the stage for the next run.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // If removing fails, the next run removes it.
        let _ = fs::remove_dir_all(&self.path);
        let innermost_first: Vec<PathBuf> = self.created_dirs.iter().rev().cloned().collect();
        remove_empty(&innermost_first);
    }
}

/// Creates a directory with an unused name. Processes in two containers can have the same id, and another process may
/// remove the empty root at the same time.
fn create_unique_dir(root: &Path) -> std::io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut attempts = 0;
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("{STAGE_PREFIX}{}-{number}", std::process::id()));
        let created = fs::create_dir_all(root).and_then(|()| create_private_dir(&path));
        attempts += 1;
        match created {
            Ok(()) => return Ok(path),
            Err(error) if attempts < ATTEMPTS_MAX && is_retryable(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_retryable(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotFound)
}

/// Returns the identity of a stage: the inode and the change time of its owner file. The author of an untrusted
/// lock file cannot know them.
pub(crate) fn stage_id(stage: &Path) -> Option<String> {
    let owner = Stat::from_path(&stage.join("owner")).ok().filter(Stat::is_file)?;
    let [_, inode, _, _, _, changed, nanoseconds] = Fingerprint::from_stat(&owner).to_numbers();
    Some(format!("{inode}-{changed}.{nanoseconds:09}"))
}

/// Returns the path in a stage for the new directory of a skill.
pub(crate) fn new_dir(stage: &Path, name: &str) -> PathBuf {
    stage.join("new").join(name)
}

/// Returns the path in a stage for the old directory of a skill, on systems that cannot exchange two directories.
pub(crate) fn old_dir(stage: &Path, name: &str) -> PathBuf {
    stage.join("old").join(name)
}

/// Removes abandoned stages. The caller holds the lock.
pub(crate) fn remove_abandoned(root: &Path) {
    for path in abandoned_stages(root) {
        // Errors are ignored: a leftover does no harm.
        let _ = fs::remove_dir_all(&path);
    }
}

/// Returns the stages of processes that have exited.
pub(crate) fn abandoned_stages(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let stages = entries.filter(|entry| {
        let has_prefix = entry.file_name().to_string_lossy().starts_with(STAGE_PREFIX);
        has_prefix && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    stages.map(|entry| entry.path()).filter(|path| is_abandoned(path))
}

/// Returns `true` if no process holds a stage. Stages are created under the lock, so each one has an owner file.
fn is_abandoned(stage: &Path) -> bool {
    fs::symlink_metadata(stage.join("owner")).is_err()
        || matches!(try_lock(&stage.join("owner")), Ok(Some(_)))
}

/// Removes directories that are empty, and stops at the first that is not.
fn remove_empty(innermost_first: &[PathBuf]) {
    for dir in innermost_first {
        if fs::remove_dir(dir).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_removes_itself_and_abandoned_stages_only() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join(".agents/skills");
        let first = Stage::create(&root).unwrap();
        let abandoned = root.join(".prowess-staging-1-0");
        fs::create_dir_all(abandoned.join("new/a")).unwrap();
        fs::write(abandoned.join("owner"), "").unwrap();
        let second = Stage::create(&root).unwrap();
        assert!(first.path().exists() && second.path().exists() && !abandoned.exists());
        drop(second);
        assert!(root.exists());
        drop(first);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
