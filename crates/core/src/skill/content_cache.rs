//! Caches what was read of a skill, for use while its files are unchanged.
//!
//! Comparing fingerprints takes one system call for each file, and unlike opening a file it does not wake the
//! watchers of the directory. Equal fingerprints also show that no symlink has replaced a file or directory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use prowess_fs::Fingerprint;

/// The largest `SKILL.md` that is cached, in bytes.
const SKILL_MD_MAX: usize = 64 * 1024;

/// The maximum number of directories of a skill whose files are cached.
const DIRS_MAX: usize = 32;

/// The cached content of one skill.
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

    /// Caches the bytes of a `SKILL.md` that is unchanged since discovery.
    pub(crate) fn keep_skill_md(&self, bytes: &[u8]) {
        if bytes.len() <= SKILL_MD_MAX {
            self.skill_md.get_or_init(|| bytes.into());
        }
    }

    /// Returns the paths of the files if no directory has changed.
    pub(crate) fn files(&self) -> Option<Arc<FilePaths>> {
        let cached = self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let is_unchanged =
            |(path, fingerprint): &(PathBuf, Fingerprint)| Fingerprint::from_path(path) == Some(*fingerprint);
        cached.dirs.as_ref()?.iter().all(is_unchanged).then_some(cached)
    }

    /// Caches the paths of the files if all directories were old enough at `now` for their timestamps to be reliable.
    pub(crate) fn keep_files(&self, files: &Arc<FilePaths>, now: i64) {
        let is_settled = |dirs: &Vec<(PathBuf, Fingerprint)>| dirs.iter().all(|(_, dir)| dir.is_settled(now));
        if files.dirs.as_ref().is_some_and(|dirs| dirs.len() <= DIRS_MAX && is_settled(dirs)) {
            *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(files));
        }
    }
}
