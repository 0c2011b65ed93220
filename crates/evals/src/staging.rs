//! Directories that appear complete or not at all.

use std::io;
use std::path::{Path, PathBuf};

/// The prefix of staging directories, followed by the process id.
const PREFIX: &str = ".prowess-staging-";

/// A directory beside its target. It is removed on drop, unless it was moved.
#[derive(Debug)]
pub(crate) struct StagingDir(PathBuf);

impl StagingDir {
    /// Creates an empty directory in `parent`, and removes those of killed processes.
    pub(crate) fn create(parent: &Path) -> io::Result<Self> {
        prowess_fs::create_dir_all(parent)?;
        remove_stale(parent);
        let name = format!("{PREFIX}{}-{}", std::process::id(), uuid::Uuid::new_v4().simple());
        let path = parent.join(name);
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        // A leftover directory does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn remove_stale(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        if process.is_some_and(prowess_fs::has_exited) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
