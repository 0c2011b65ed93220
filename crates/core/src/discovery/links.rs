//! The directories that symlinks may point to.
//!
//! People keep skills in one directory and link to them from others, by hand, with stow or with Nix. A symlink
//! is followed if its target is in a known directory: a root, a trusted directory, or one listed in the user's
//! configuration.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use prowess_fs::Dir;

/// The maximum number of symlinks on the path to one skill.
pub(crate) const HOPS_MAX: usize = 4;

/// The canonical directories that symlinks may point to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownDirs(Vec<PathBuf>);

impl KnownDirs {
    pub(crate) fn new(dirs: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut dirs: Vec<_> = dirs.into_iter().collect();
        dirs.sort();
        dirs.dedup();
        Self(dirs)
    }

    pub(crate) fn contain(&self, path: &Path) -> bool {
        self.0.iter().any(|dir| path.starts_with(dir))
    }

    /// Prepares the directories for one scan.
    pub(crate) fn link_targets(&self) -> LinkTargets<'_> {
        LinkTargets(self.0.iter().map(|dir| (dir.as_path(), OnceLock::new())).collect())
    }
}

/// The known directories of one scan. Each is opened once, when the first symlink points there, so that a
/// thousand symlinks do not need a thousand open directories.
pub(crate) struct LinkTargets<'a>(Vec<(&'a Path, OnceLock<Option<Arc<Dir>>>)>);

/// The target of a symlink.
pub(crate) enum ResolvedLink {
    /// Inside a known directory, which is open, with the path relative to it.
    Known { known_dir: Arc<Dir>, inner: PathBuf, target: PathBuf },
    /// Outside the known directories.
    Outside(PathBuf),
    /// The symlink is broken or part of a loop.
    Broken,
}

impl LinkTargets<'_> {
    /// Resolves a symlink. The target is opened through the known directory and not through the symlink, so
    /// that replacing the symlink in the meantime has no effect.
    pub(crate) fn follow(&self, link: &Path) -> ResolvedLink {
        let Ok(target) = std::fs::canonicalize(link) else { return ResolvedLink::Broken };
        let Some((dir, opened)) = self.0.iter().find(|(dir, _)| target.starts_with(dir)) else {
            return ResolvedLink::Outside(target);
        };
        match opened.get_or_init(|| Dir::open_resolved(dir).ok().map(Arc::new)) {
            Some(opened) => {
                let inner = target.strip_prefix(dir).unwrap_or(Path::new("")).to_owned();
                let inner = if inner.as_os_str().is_empty() { PathBuf::from(".") } else { inner };
                ResolvedLink::Known { known_dir: Arc::clone(opened), inner, target }
            }
            None => ResolvedLink::Broken,
        }
    }
}
