//! The file of decisions, and changing it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

use crate::files::{Folder, lock, read_whole, replace};
use crate::located::Located;
use crate::policy::{Policy, ProjectTrust};
use crate::registry::{Registry, Snapshot};
use crate::scan::Progress;
use crate::surroundings::Surroundings;
use crate::tree_hash::tree_hash;

const STATE_MAX: u64 = 16 * 1024 * 1024;

/// All decisions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct State {
    schema: u32,
    pub(super) folders: Vec<TrustRecord>,
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
    /// The tree hash of each skill at that time, by its folder.
    #[serde(default)]
    pub skills: BTreeMap<PathBuf, String>,
}

impl TrustRecord {
    pub(super) fn hash_of(&self, folder: &Path) -> Option<&str> {
        self.skills.get(folder).map(String::as_str)
    }
}

/// Why trust could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no home to keep it in.
    #[error("there is no home directory to keep trust in; set HOME or use --home")]
    NoHome,
    /// The folder does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The state is there and cannot be understood; it is not overwritten.
    #[error("{} cannot be read: {}", .0.path.display(), .0.diagnostic.message)]
    State(Box<Located>),
    /// The state cannot be written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The state's file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl State {
    fn path(world: &Surroundings) -> Option<PathBuf> {
        Some(world.state()?.join("trust.json"))
    }

    /// Reads the state. One that cannot be understood trusts nobody, and says so.
    pub(super) fn load(world: &Surroundings) -> (Self, Option<Located>) {
        let Some(path) = Self::path(world) else { return Default::default() };
        match Self::read(&path) {
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

    fn read(path: &Path) -> Result<Self, String> {
        let words = |error: rustix::io::Errno| std::io::Error::from(error).kind().to_string();
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(Self::default());
        };
        let folder = match Folder::open(folder) {
            Ok(folder) => folder,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(Self::default()),
            Err(error) => return Err(words(error)),
        };
        let (file, stat) = match folder.file(Path::new(name)) {
            Ok(file) => file,
            Err(rustix::io::Errno::NOENT) => return Ok(Self::default()),
            Err(error) => return Err(words(error)),
        };
        let bytes = read_whole(&file, &stat, STATE_MAX).map_err(|_| "not a readable file".to_owned())?;
        let state: Self = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if state.schema > 1 { Err("written by a newer version".to_owned()) } else { Ok(state) }
    }

    /// The decision about the nearest folder, from `folder` upwards.
    pub(super) fn nearest(&self, folder: &Path) -> Option<&TrustRecord> {
        self.folders
            .iter()
            .filter(|record| folder.starts_with(&record.path))
            .max_by_key(|record| record.path.as_os_str().len())
    }

    /// Changes the state while no other process does.
    fn change<T>(world: &Surroundings, change: impl FnOnce(&mut Self) -> T) -> Result<T, TrustError> {
        let path = Self::path(world).ok_or(TrustError::NoHome)?;
        let write = |source: std::io::Error| TrustError::Write { path: path.clone(), source };
        let _lock = lock(&path).map_err(write)?;
        let mut state = match Self::load(world) {
            (state, None) => state,
            (_, Some(problem)) => return Err(TrustError::State(Box::new(problem))),
        };
        state.schema = 1;
        let result = change(&mut state);
        state.folders.sort_by(|a, b| a.path.cmp(&b.path));
        let bytes = serde_json::to_vec_pretty(&state).map_err(|error| write(error.into()))?;
        replace(&path, &bytes).map_err(write)?;
        Ok(result)
    }
}

/// Trusts a folder and everything below it; `pinned` binds trust to what is there now. Gives the new record and the
/// one before it.
pub fn trust(
    folder: &Path,
    pinned: bool,
    policy: &Policy,
    world: &Surroundings,
) -> Result<(TrustRecord, Option<TrustRecord>), TrustError> {
    let path = canonical(folder)?;
    let at =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let skills = hashes(&path, policy, world);
    let record = TrustRecord { path: path.clone(), trusted: true, pinned, at, skills };
    let kept = record.clone();
    let before = State::change(world, |state| {
        let before = take(state, &path);
        state.folders.push(kept);
        before
    })?;
    Ok((record, before))
}

/// Takes trust back. Gives what was decided before; `None` if the folder was not trusted at all.
pub fn untrust(folder: &Path, world: &Surroundings) -> Result<Option<TrustRecord>, TrustError> {
    // What no longer exists must still be forgettable.
    let path = canonical(folder).unwrap_or_else(|_| folder.to_owned());
    State::change(world, |state| {
        let own = take(state, &path);
        let above = state.nearest(&path).filter(|record| record.trusted).cloned();
        if above.is_some() {
            // A folder above is trusted: this one is excepted.
            let exception = TrustRecord {
                path: path.clone(),
                trusted: false,
                pinned: false,
                at: 0,
                skills: BTreeMap::new(),
            };
            state.folders.push(exception);
        }
        own.filter(|record| record.trusted).or(above)
    })
}

/// What changed in a trusted folder since it was trusted: added, changed and removed skills, by their folders.
pub fn changes_since(record: &TrustRecord, policy: &Policy, world: &Surroundings) -> crate::Difference {
    let now = hashes(&record.path, policy, world);
    let text = |path: &PathBuf| path.display().to_string();
    crate::Difference {
        added: now.keys().filter(|path| !record.skills.contains_key(*path)).map(text).collect(),
        removed: record.skills.keys().filter(|path| !now.contains_key(*path)).map(text).collect(),
        changed: now
            .iter()
            .filter(|(path, hash)| record.skills.get(*path).is_some_and(|before| before != *hash))
            .map(|(path, _)| text(path))
            .collect(),
    }
}

/// The decision that holds for a folder, if any.
pub fn record_for(folder: &Path, world: &Surroundings) -> Option<TrustRecord> {
    let path = canonical(folder).ok()?;
    State::load(world).0.nearest(&path).cloned()
}

fn take(state: &mut State, path: &Path) -> Option<TrustRecord> {
    let at = state.folders.iter().position(|record| record.path == path)?;
    Some(state.folders.remove(at))
}

fn canonical(folder: &Path) -> Result<PathBuf, TrustError> {
    fs::canonicalize(folder).map_err(|_| TrustError::Missing(folder.to_owned()))
}

/// The tree hash of each project skill below a folder.
fn hashes(folder: &Path, policy: &Policy, world: &Surroundings) -> BTreeMap<PathBuf, String> {
    let policy = Policy { trust: ProjectTrust::NotNeeded, ..policy.clone() };
    let inside = world.project.starts_with(folder);
    let project = if inside { world.project.clone() } else { folder.to_owned() };
    let world = Surroundings { project, ..world.clone() };
    let registry = Registry::open_in(policy, world, &Progress::default());
    let snapshot: &Snapshot = &registry.snapshot();
    let skills =
        snapshot.all().iter().filter(|skill| skill.root().base().is_some_and(|base| in_folder(base, folder)));
    skills
        .map(|skill| {
            let folder = skill.canonical_folder();
            let hash = tree_hash(&folder).unwrap_or_else(|error| format!("no hash: {error}"));
            (folder, hash)
        })
        .collect()
}

fn in_folder(base: &Path, folder: &Path) -> bool {
    fs::canonicalize(base).is_ok_and(|base| base.starts_with(folder))
}
