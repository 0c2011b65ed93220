//! Where links may lead.
//!
//! People keep skills in one place and link them from others, by hand, with stow or with Nix. A link is followed if its
//! target lies in a place that is known: a root, a folder the user trusts, or one the user's configuration names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::Folder;

/// The most links on the way to one skill.
pub(crate) const HOPS_MAX: u8 = 4;

/// The places that links may lead to, without links in their own paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places(Vec<PathBuf>);

/// Where a link leads.
pub(crate) enum Target {
    /// Into a known place, which is open, with the rest of the path.
    Known { place: Arc<Folder>, inner: PathBuf, target: PathBuf },
    /// Somewhere else.
    Outside(PathBuf),
    /// Nowhere, or in a circle.
    Broken,
}

impl Places {
    pub(crate) fn new(places: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort();
        places.dedup();
        Self(places)
    }

    pub(crate) fn hold(&self, path: &Path) -> bool {
        self.place(path).is_some()
    }

    fn place(&self, path: &Path) -> Option<&PathBuf> {
        self.0.iter().find(|place| path.starts_with(place))
    }

    /// Follows a link. What it leads to is opened through the place, not through the link: whoever moves the link
    /// meanwhile gains nothing.
    pub(crate) fn follow(&self, link: &Path) -> Target {
        let Ok(target) = std::fs::canonicalize(link) else { return Target::Broken };
        let Some(place) = self.place(&target) else { return Target::Outside(target) };
        match Folder::open(place) {
            Ok(folder) => {
                let inner = target.strip_prefix(place).unwrap_or(Path::new("")).to_owned();
                let inner = if inner.as_os_str().is_empty() { PathBuf::from(".") } else { inner };
                Target::Known { place: Arc::new(folder), inner, target }
            }
            Err(_) => Target::Broken,
        }
    }
}
