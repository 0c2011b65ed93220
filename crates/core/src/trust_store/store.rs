//! The file of trust decisions, and its updates.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

use crate::file_diagnostic::FileDiagnostic;
use crate::host_env::HostEnv;
use crate::tree_hashes::TreeHashes;
use crate::usage::now;
use crate::user_state::{self, TrustError, UserState};

/// The content of `trust.json`: all trust decisions, one per directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct TrustFile {
    schema: u32,
    pub(crate) folders: Vec<TrustRecord>,
}

/// The user's decision about the skills below one directory. The decision for the nearest parent directory applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// The canonical path of the directory.
    pub path: PathBuf,
    /// `true` if skills below the directory may be used; `false` if the user excluded it from a trusted directory.
    pub trusted: bool,
    /// `true` if only skills whose files match `skills` are trusted; `false` if new and changed skills are trusted
    /// as well.
    #[serde(default)]
    pub pinned: bool,
    /// The time of the decision, in seconds since 1970.
    #[serde(default)]
    pub at: u64,
    /// The tree hashes of each skill at the time of the decision, by the directory of the skill.
    #[serde(default)]
    pub skills: BTreeMap<PathBuf, TreeHashes>,
}

impl TrustRecord {
    /// Returns `true` if the pin of a skill includes this tree hash; `None` if the skill has no pin.
    pub(super) fn is_pinned_to(&self, dir: &Path, tree: Option<&str>) -> Option<bool> {
        let pinned = self.skills.get(dir)?;
        Some(tree.is_some_and(|tree| pinned.contains(tree)))
    }
}

impl UserState for TrustFile {
    const BYTES_MAX: u64 = 16 * 1024 * 1024;

    fn schema(&mut self) -> &mut u32 {
        &mut self.schema
    }

    fn sort(&mut self) {
        self.folders.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

impl TrustFile {
    pub(super) fn path(host: &HostEnv) -> Option<PathBuf> {
        Some(host.state_dir()?.join("trust.json"))
    }

    /// Loads the state. One that cannot be read trusts nothing and is reported as a problem.
    pub(super) fn load(host: &HostEnv) -> (Self, Option<FileDiagnostic>) {
        let Some(path) = Self::path(host) else { return Default::default() };
        match user_state::read_state(&path) {
            Ok(state) => (state, None),
            Err(reason) => {
                let message = format!("cannot read the trust state ({reason}); no project is trusted");
                let help = "fix the file, or delete it and trust your projects again";
                (
                    Self::default(),
                    Some(FileDiagnostic::new(path, Diagnostic::error(Code::TrustState, message).help(help))),
                )
            }
        }
    }

    /// Returns the decision that applies to a directory.
    pub(super) fn nearest_record(&self, dir: &Path) -> Option<&TrustRecord> {
        self.decide(dir).record()
    }

    fn decide(&self, dir: &Path) -> TrustDecision<'_> {
        find_decision(dir, |path| self.folders.iter().find(|record| record.path == path), is_repository)
    }

    /// Updates the state under its file lock.
    pub(crate) fn update<T>(host: &HostEnv, change: impl FnOnce(&mut Self) -> T) -> Result<T, TrustError> {
        user_state::update_state(Self::path(host), || Self::load(host), change)
    }

    /// Removes the decision about exactly this directory.
    pub(crate) fn remove(&mut self, path: &Path) -> Option<TrustRecord> {
        let index = self.folders.iter().position(|record| record.path == path)?;
        Some(self.folders.remove(index))
    }
}

/// The result of looking up the decision about a directory.
#[derive(Debug, Clone)]
pub(super) enum TrustDecision<'a> {
    /// The nearest decision, from the directory upwards.
    Recorded(&'a TrustRecord),
    /// A directory above is trusted, but this one is in another git repository, at this path.
    NestedRepository(PathBuf),
    /// There is no decision.
    None,
}

impl<'a> TrustDecision<'a> {
    pub(super) fn record(self) -> Option<&'a TrustRecord> {
        match self {
            Self::Recorded(record) => Some(record),
            Self::NestedRepository(_) | Self::None => None,
        }
    }
}

/// Looks up the decision about a directory. Trust ends at a nested git repository: cloning a repository into a
/// trusted project must not trust the clone.
pub(super) fn find_decision<'a>(
    dir: &Path,
    record_at: impl Fn(&Path) -> Option<&'a TrustRecord>,
    is_repository: impl Fn(&Path) -> bool,
) -> TrustDecision<'a> {
    let Some(record) = dir.ancestors().find_map(record_at) else { return TrustDecision::None };
    let nested = dir.ancestors().take_while(|ancestor| *ancestor != record.path);
    match nested.into_iter().find(|ancestor| is_repository(ancestor)) {
        Some(repository) if record.trusted => TrustDecision::NestedRepository(repository.to_owned()),
        _ => TrustDecision::Recorded(record),
    }
}

/// Returns `true` if a directory has a `.git`, which is a file in worktrees and submodules. If that cannot be
/// determined, it counts as a repository.
pub(super) fn is_repository(dir: &Path) -> bool {
    match fs::symlink_metadata(dir.join(".git")) {
        Ok(_) => true,
        Err(error) => {
            !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        }
    }
}

/// Revokes trust. Returns the previous decision; `None` if the directory was not trusted.
pub fn untrust(dir: &Path, host: &HostEnv) -> Result<Option<TrustRecord>, TrustError> {
    let path = canonicalize_dir(dir).unwrap_or_else(|_| canonicalize_existing_part(dir));
    TrustFile::update(host, |state| {
        let previous = state.nearest_record(&path).filter(|record| record.trusted).cloned();
        state.remove(&path);
        if state.nearest_record(&path).is_some_and(|record| record.trusted) {
            // A directory above is trusted, so exclude this one.
            let (trusted, pinned) = (false, false);
            let skills = BTreeMap::new();
            state.folders.push(TrustRecord { path: path.clone(), trusted, pinned, at: now(), skills });
        }
        previous
    })
}

/// Returns the decision that applies to a directory, if any.
pub fn record_for(dir: &Path, host: &HostEnv) -> Option<TrustRecord> {
    let path = canonicalize_dir(dir).ok()?;
    TrustFile::load(host).0.nearest_record(&path).cloned()
}

pub(crate) fn canonicalize_dir(dir: &Path) -> Result<PathBuf, TrustError> {
    fs::canonicalize(dir).map_err(|_| TrustError::Missing(dir.to_owned()))
}

/// Canonicalizes a path of which a part may no longer exist, so that trust in a deleted directory can be
/// revoked.
pub(super) fn canonicalize_existing_part(dir: &Path) -> PathBuf {
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let existing = dir.ancestors().find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)));
    match existing {
        Some((ancestor, canonical)) => canonical.join(dir.strip_prefix(ancestor).unwrap_or(Path::new(""))),
        None => dir,
    }
}
