//! The file of decisions, and changing it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

use crate::located::Located;
use crate::surroundings::Surroundings;
use crate::user_state::{self, TrustError, UserState};

/// All decisions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct State {
    schema: u32,
    pub(crate) folders: Vec<TrustRecord>,
}

/// What the user decided about one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// The folder, without links.
    pub path: PathBuf,
    /// Whether it is trusted. A folder inside a trusted one can be excepted.
    pub trusted: bool,
    /// Whether trust is bound to the hashes.
    #[serde(default)]
    pub pinned: bool,
    /// When, in seconds since 1970.
    #[serde(default)]
    pub at: u64,
    /// The tree hash of each skill at that time, by its folder; two with a space between them while it is replaced.
    #[serde(default)]
    pub skills: BTreeMap<PathBuf, String>,
}

impl TrustRecord {
    /// Whether a skill is pinned to this tree hash; `None` where it is not pinned at all.
    pub(super) fn pins(&self, folder: &Path, tree: Option<&str>) -> Option<bool> {
        let pinned = self.skills.get(folder)?;
        Some(tree.is_some_and(|tree| pinned.split(' ').any(|pinned| pinned == tree)))
    }
}

impl UserState for State {
    const BYTES_MAX: u64 = 16 * 1024 * 1024;

    fn schema(&mut self) -> &mut u32 {
        &mut self.schema
    }

    fn sort(&mut self) {
        self.folders.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

impl State {
    fn path(world: &Surroundings) -> Option<PathBuf> {
        Some(world.state()?.join("trust.json"))
    }

    /// Reads the state. One that cannot be understood trusts nobody, and says so.
    pub(super) fn load(world: &Surroundings) -> (Self, Option<Located>) {
        let Some(path) = Self::path(world) else { return Default::default() };
        match user_state::read(&path) {
            Ok(state) => (state, None),
            Err(why) => {
                let message = format!("the state of trust cannot be read ({why}); nothing is trusted");
                let help = "mend the file, or delete it and trust your projects again";
                (
                    Self::default(),
                    Some(Located::new(path, Diagnostic::error(Code::TrustState, message).help(help))),
                )
            }
        }
    }

    /// The decision that applies to a folder, if there is one.
    pub(super) fn nearest(&self, folder: &Path) -> Option<&TrustRecord> {
        self.decide(folder).record()
    }

    fn decide(&self, folder: &Path) -> Decision<'_> {
        decide(folder, |path| self.folders.iter().find(|record| record.path == path), is_repository)
    }

    /// Changes the state while no other process does.
    pub(crate) fn change<T>(
        world: &Surroundings,
        change: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, TrustError> {
        user_state::change(Self::path(world), || Self::load(world), change)
    }

    /// Takes out the decision about exactly this folder.
    pub(crate) fn take(&mut self, path: &Path) -> Option<TrustRecord> {
        let at = self.folders.iter().position(|record| record.path == path)?;
        Some(self.folders.remove(at))
    }
}

/// What the user's decisions say about a folder.
#[derive(Debug, Clone)]
pub(super) enum Decision<'a> {
    /// The nearest decision, from the folder upwards.
    Made(&'a TrustRecord),
    /// A directory above is trusted, but the folder is in another git repository, at this path.
    NestedRepository(PathBuf),
    /// There is no decision.
    None,
}

impl<'a> Decision<'a> {
    pub(super) fn record(self) -> Option<&'a TrustRecord> {
        match self {
            Self::Made(record) => Some(record),
            Self::NestedRepository(_) | Self::None => None,
        }
    }
}

/// Looks up the decision about a folder. Trust in a directory ends at a git repository nested in it: cloning a repository
/// into a trusted project must not trust what was cloned.
pub(super) fn decide<'a>(
    folder: &Path,
    record_at: impl Fn(&Path) -> Option<&'a TrustRecord>,
    is_repository: impl Fn(&Path) -> bool,
) -> Decision<'a> {
    let Some(record) = folder.ancestors().find_map(record_at) else { return Decision::None };
    let nested = folder.ancestors().take_while(|above| *above != record.path);
    match nested.into_iter().find(|above| is_repository(above)) {
        Some(repository) if record.trusted => Decision::NestedRepository(repository.to_owned()),
        _ => Decision::Made(record),
    }
}

/// Whether a directory has a `.git`, which is a file in worktrees and submodules. One that cannot be looked at counts as one.
pub(super) fn is_repository(folder: &Path) -> bool {
    match fs::symlink_metadata(folder.join(".git")) {
        Ok(_) => true,
        Err(error) => {
            !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        }
    }
}

/// Takes trust back. Gives what was decided before; `None` if the folder was not trusted at all.
pub fn untrust(folder: &Path, world: &Surroundings) -> Result<Option<TrustRecord>, TrustError> {
    let path = canonical(folder).unwrap_or_else(|_| as_it_was(folder));
    State::change(world, |state| {
        let before = state.nearest(&path).filter(|record| record.trusted).cloned();
        state.take(&path);
        if state.nearest(&path).is_some_and(|record| record.trusted) {
            // A folder above is trusted: this one is excepted.
            let (trusted, pinned) = (false, false);
            let skills = BTreeMap::new();
            state.folders.push(TrustRecord { path: path.clone(), trusted, pinned, at: now(), skills });
        }
        before
    })
}

/// The decision that holds for a folder, if any.
pub fn record_for(folder: &Path, world: &Surroundings) -> Option<TrustRecord> {
    let path = canonical(folder).ok()?;
    State::load(world).0.nearest(&path).cloned()
}

pub(crate) fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

pub(crate) fn canonical(folder: &Path) -> Result<PathBuf, TrustError> {
    fs::canonicalize(folder).map_err(|_| TrustError::Missing(folder.to_owned()))
}

/// A folder that no longer exists must still be forgettable: what is left of its path, without links, and the rest.
pub(super) fn as_it_was(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let left = folder.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    match left {
        Some((above, canonical)) => canonical.join(folder.strip_prefix(above).unwrap_or(Path::new(""))),
        None => folder,
    }
}
