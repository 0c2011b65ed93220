//! The content of a skill that was read before, for use while its files are unchanged.
//!
//! Comparing fingerprints takes one system call for each file, and unlike opening a file it does not wake the
//! watchers of the directory. Equal fingerprints also show that no symlink has replaced a file or directory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use prowess_fs::Fingerprint;

/// The largest `SKILL.md` that is kept.
const SKILL_MD_MAX: usize = 64 * 1024;

/// The maximum number of directories whose files are kept.
const DIRS_MAX: usize = 32;

/// What is kept of a skill.
#[derive(Debug, Default)]
pub(crate) struct ContentCache {
    skill_md: OnceLock<Box<[u8]>>,
    files: Mutex<Option<Arc<FilePaths>>>,
}

/// The paths of a skill's files.
#[derive(Debug, Default)]
pub(crate) struct FilePaths {
    /// The sorted paths, relative to the skill's directory.
    pub(crate) paths: Vec<String>,
    /// Whether there are more files.
    pub(crate) truncated: bool,
    /// The listed directories, as they were before they were listed; `None` if one could not be read.
    pub(crate) dirs: Option<Vec<(PathBuf, Fingerprint)>>,
}

impl ContentCache {
    /// Returns the bytes of a `SKILL.md` that is unchanged since discovery.
    pub(crate) fn skill_md(&self) -> Option<&[u8]> {
        self.skill_md.get().map(AsRef::as_ref)
    }

    /// Keeps the bytes of a `SKILL.md` that is unchanged since discovery.
    pub(crate) fn keep_skill_md(&self, bytes: &[u8]) {
        if bytes.len() <= SKILL_MD_MAX {
            self.skill_md.get_or_init(|| bytes.into());
        }
    }

    /// Returns the paths of the files if no directory has changed.
    pub(crate) fn files(&self) -> Option<Arc<FilePaths>> {
        let kept = self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let is_unchanged =
            |(path, known): &(PathBuf, Fingerprint)| Fingerprint::from_path(path) == Some(*known);
        kept.dirs.as_ref()?.iter().all(is_unchanged).then_some(kept)
    }

    /// Keeps the paths of the files if all directories were old enough at `now` to compare their times.
    pub(crate) fn keep_files(&self, files: &Arc<FilePaths>, now: i64) {
        let is_settled = |dirs: &Vec<(PathBuf, Fingerprint)>| dirs.iter().all(|(_, dir)| dir.is_settled(now));
        if files.dirs.as_ref().is_some_and(|dirs| dirs.len() <= DIRS_MAX && is_settled(dirs)) {
            *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(files));
        }
    }
}
