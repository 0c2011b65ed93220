//! The file of decisions, and changing it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::located::Located;
use crate::policy::{Policy, ProjectTrust};
use crate::registry::{Registry, Skill, Snapshot};
use crate::scan::Progress;
use crate::surroundings::Surroundings;
use prowess_fs::resolved_tree_hash;
use prowess_fs::{Folder, lock, read_whole, replace, words};

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
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(Self::default());
        };
        let opened = Folder::open(folder).and_then(|folder| folder.file(Path::new(name)));
        let (file, stat) = match opened {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Self::default()),
            Err(error) => return Err(words(error)),
        };
        let bytes = read_whole(&file, &stat, STATE_MAX).map_err(|error| error.to_string())?;
        let state: Self = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if state.schema > 1 { Err("written by a newer version".to_owned()) } else { Ok(state) }
    }

    /// The decision that applies to a folder, if there is one.
    pub(super) fn nearest(&self, folder: &Path) -> Option<&TrustRecord> {
        self.decide(folder).record()
    }

    fn decide(&self, folder: &Path) -> Decision<'_> {
        decide(folder, |path| self.folders.iter().find(|record| record.path == path), is_repository)
    }

    /// Changes the state while no other process does.
    pub(super) fn change<T>(
        world: &Surroundings,
        change: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, TrustError> {
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

/// Trusts a folder and everything below it, except for git repositories nested in it; `pinned` binds trust to what is there now. Gives the new record and the
/// one before it.
pub fn trust(
    folder: &Path,
    pinned: bool,
    policy: &Policy,
    world: &Surroundings,
) -> Result<(TrustRecord, Option<TrustRecord>), TrustError> {
    let path = canonical(folder)?;
    let skills = hashes(&path, policy, world);
    let record = TrustRecord { path: path.clone(), trusted: true, pinned, at: now(), skills };
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
    let path = canonical(folder).unwrap_or_else(|_| as_it_was(folder));
    State::change(world, |state| {
        let before = state.nearest(&path).filter(|record| record.trusted).cloned();
        take(state, &path);
        if state.nearest(&path).is_some_and(|record| record.trusted) {
            // A folder above is trusted: this one is excepted.
            let (trusted, pinned) = (false, false);
            let skills = BTreeMap::new();
            state.folders.push(TrustRecord { path: path.clone(), trusted, pinned, at: now(), skills });
        }
        before
    })
}

/// What changed in a trusted folder since it was trusted: added, changed and removed skills, by their folders.
pub fn changes_since(record: &TrustRecord, policy: &Policy, world: &Surroundings) -> crate::Difference {
    let mut now = hashes(&record.path, policy, world);
    for folder in record.skills.keys() {
        // Which skills are found depends on the present project; one that is not looked for is not gone.
        if !now.contains_key(folder) && folder.join("SKILL.md").exists() {
            now.insert(folder.clone(), hash(folder));
        }
    }
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

pub(super) fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn take(state: &mut State, path: &Path) -> Option<TrustRecord> {
    let at = state.folders.iter().position(|record| record.path == path)?;
    Some(state.folders.remove(at))
}

fn canonical(folder: &Path) -> Result<PathBuf, TrustError> {
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

/// The tree hash of each skill that a decision about a folder is about: those of projects in the folder, and those that
/// links lead to there.
fn hashes(folder: &Path, policy: &Policy, world: &Surroundings) -> BTreeMap<PathBuf, String> {
    let policy = Policy { trust: ProjectTrust::NotNeeded, ..policy.clone() };
    let skills = skills_in(folder, &policy, world);
    // JSON cannot hold other names. Without a hash a pinned skill is not trusted.
    let folders =
        skills.iter().map(|skill| skill.canonical_folder()).filter(|folder| folder.to_str().is_some());
    folders.map(|folder| (folder.clone(), hash(&folder))).collect()
}

/// The skills that trust in a folder is about, each once and with its status as of now.
pub fn skills_in(folder: &Path, policy: &Policy, world: &Surroundings) -> Vec<Skill> {
    let mut worlds = vec![world.clone()];
    if !in_folder(&world.project, folder) {
        worlds.push(Surroundings { project: folder.to_owned(), ..world.clone() });
    }
    let mut skills: BTreeMap<PathBuf, Skill> = BTreeMap::new();
    for world in worlds {
        let registry = Registry::open_in(policy.clone(), world, &Progress::default());
        let snapshot: &Snapshot = &registry.snapshot();
        let ours = |skill: &&Skill| {
            let base = skill.root().base();
            let inside = skill.canonical_folder().starts_with(folder);
            // What a link leads to elsewhere is not read, however much it is.
            (inside && (base.is_some() || skill.link().is_some()))
                || (!skill.is_outside() && base.is_some_and(|base| in_folder(base, folder)))
        };
        for skill in snapshot.all().iter().filter(ours) {
            skills.entry(skill.canonical_folder()).or_insert_with(|| skill.clone());
        }
    }
    skills.into_values().collect()
}

fn hash(folder: &Path) -> String {
    resolved_tree_hash(folder).unwrap_or_else(|error| format!("no hash: {error}"))
}

fn in_folder(base: &Path, folder: &Path) -> bool {
    fs::canonicalize(base).is_ok_and(|base| base.starts_with(folder))
}
