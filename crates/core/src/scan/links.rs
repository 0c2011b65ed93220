//! Where links may lead.
//!
//! People keep skills in one place and link them from others, by hand, with stow or with Nix. A link is followed if its
//! target lies in a place that is known: a root, a folder the user trusts, or one the user's configuration names.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use prowess_fs::Folder;

/// The most links on the way to one skill.
pub(crate) const HOPS_MAX: usize = 4;

/// The places that links may lead to, without links in their own paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places(Vec<PathBuf>);

impl Places {
    pub(crate) fn new(places: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort();
        places.dedup();
        Self(places)
    }

    pub(crate) fn hold(&self, path: &Path) -> bool {
        self.0.iter().any(|place| path.starts_with(place))
    }

    /// For one scan.
    pub(crate) fn doors(&self) -> Doors<'_> {
        Doors(self.0.iter().map(|place| (place.as_path(), OnceLock::new())).collect())
    }
}

/// The places of one scan. Each is opened when the first link leads there, and once: a thousand links must not hold a
/// thousand open folders.
pub(crate) struct Doors<'a>(Vec<(&'a Path, OnceLock<Option<Arc<Folder>>>)>);

/// Where a link leads.
pub(crate) enum Target {
    /// Into a known place, which is open, with the rest of the path.
    Known { place: Arc<Folder>, inner: PathBuf, target: PathBuf },
    /// Somewhere else.
    Outside(PathBuf),
    /// Nowhere, or in a circle.
    Broken,
}

impl Doors<'_> {
    /// Follows a link. What it leads to is opened through the place, not through the link: whoever moves the link
    /// meanwhile gains nothing.
    pub(crate) fn follow(&self, link: &Path) -> Target {
        let Ok(target) = std::fs::canonicalize(link) else { return Target::Broken };
        let Some((place, door)) = self.0.iter().find(|(place, _)| target.starts_with(place)) else {
            return Target::Outside(target);
        };
        match door.get_or_init(|| Folder::open_resolved(place).ok().map(Arc::new)) {
            Some(folder) => {
                let inner = target.strip_prefix(place).unwrap_or(Path::new("")).to_owned();
                let inner = if inner.as_os_str().is_empty() { PathBuf::from(".") } else { inner };
                Target::Known { place: Arc::clone(folder), inner, target }
            }
            None => Target::Broken,
        }
    }
}
