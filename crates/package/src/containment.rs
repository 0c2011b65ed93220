//! Directories of a project that a repository may have replaced by symlinks.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::PackageError;

/// A directory of a project that must not be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotContained {
    pub(crate) path: PathBuf,
    pub(crate) reason: &'static str,
}

impl From<NotContained> for PackageError {
    fn from(NotContained { path, reason }: NotContained) -> Self {
        Self::OutsideProject { path, reason }
    }
}

/// Returns a directory without symlinks; it may not exist. Rejects one that is outside of the project, or in a `.git`,
/// whose files git would run or follow.
pub(crate) fn resolve_within(project: &Path, dir: &Path) -> Result<PathBuf, NotContained> {
    let rejected = |reason| NotContained { path: dir.to_owned(), reason };
    let existing = dir.ancestors().find(|ancestor| fs::symlink_metadata(ancestor).is_ok()).unwrap_or(dir);
    let canonical = fs::canonicalize(existing).map_err(|_| rejected("it is a dangling symlink"))?;
    let project = fs::canonicalize(project).map_err(|_| rejected("the project cannot be found"))?;
    let missing = dir.strip_prefix(existing).unwrap_or(Path::new(""));
    // Joining an empty path would add a separator.
    let resolved = if missing.as_os_str().is_empty() { canonical } else { canonical.join(missing) };
    let Ok(inner) = resolved.strip_prefix(project) else {
        return Err(rejected("a symlink points out of the project"));
    };
    // Some file systems ignore case.
    let is_git =
        |component| matches!(component, Component::Normal(name) if name.eq_ignore_ascii_case(".git"));
    match inner.components().any(is_git) {
        true => Err(rejected("a symlink points into the project's .git")),
        false => Ok(resolved),
    }
}
