//! Checks whether installed skills still match the lock file, without reading all their files for every
//! listing.
//!
//! Each skill's files are hashed once. The user's state stores the tree hash together with a fingerprint of the
//! directory: the identity, size and timestamps of every file. While the fingerprint is the same, so is the hash.
//! Fingerprints only save work when listing skills: [`LockIndex::verify`] always hashes the files before they are
//! loaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::index::{IndexedLock, LockIndex, locked_dirs};
use crate::host_env::HostEnv;
use crate::lock_file::{
    accepted::{self},
    compare_with_lock, project_lock_path, user_lock_path,
};
use crate::skill::{DiscoveredSkill, ModifiedReason, Root};
use prowess_fs::HashedTree;
use prowess_fs::{
    Dir, EntryKind, Fingerprint, WalkEvent, WalkLimits, lock, read_bounded, unix_now, walk, write_private,
};

const CACHE_MAX: u64 = 16 * 1024 * 1024;
/// The maximum number of cached directories. The cache is cleared when it is full.
const DIRS_MAX: usize = 20_000;
const ENTRIES_MAX: usize = 8_192;
const DEPTH_MAX: usize = 16;

/// Compares the installed skills of one scan with their lock files.
pub(crate) struct IntegrityCheck<'w> {
    host: &'w HostEnv,
    /// The lock files of each root that have entries or cannot be read.
    locks: Vec<(Arc<Root>, Vec<Arc<IndexedLock>>)>,
    files: Vec<(PathBuf, Option<Fingerprint>)>,
    /// The tree hashes of modified skills that the user accepted, by directory; see [`accepted`].
    accepted: OnceLock<BTreeMap<PathBuf, String>>,
    cache: OnceLock<Mutex<HashCache>>,
    fingerprints: Mutex<Vec<(PathBuf, Option<TreeFingerprint>)>>,
}

/// The inputs of an integrity check, to detect whether they have changed.
#[derive(Debug, Default)]
pub(crate) struct IntegrityInputs {
    files: Vec<(PathBuf, Option<Fingerprint>)>,
    fingerprints: Vec<(PathBuf, Option<TreeFingerprint>)>,
}

impl IntegrityInputs {
    /// Returns `true` if no lock file and no file of an installed skill has changed.
    pub(crate) fn is_unchanged(&self) -> bool {
        let is_same_tree = |(dir, previous): &(PathBuf, Option<TreeFingerprint>)| {
            previous.as_ref().is_some_and(|previous| {
                previous.settled && TreeFingerprint::for_dir(dir).as_ref() == Some(previous)
            })
        };
        self.files.iter().all(|(path, previous)| Fingerprint::from_path(path) == *previous)
            && self.fingerprints.iter().all(is_same_tree)
    }
}

/// A digest of the metadata of all files in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeFingerprint {
    digest: String,
    /// Whether all files were old enough for equal timestamps to mean equal bytes.
    settled: bool,
}

impl TreeFingerprint {
    /// Returns the fingerprint of a directory; `None` if the directory cannot be hashed.
    fn for_dir(dir: &Path) -> Option<Self> {
        let (mut digest, mut settled, now) = (Sha256::new(), true, unix_now());
        let bounds = WalkLimits { depth: DEPTH_MAX, entries: ENTRIES_MAX, enter: |_| true };
        let opened = Dir::open_resolved(dir).ok()?;
        walk(&opened, bounds, &mut |event| match event {
            WalkEvent::Entry { dir, name, path, kind: EntryKind::File } => {
                let fingerprint = Fingerprint::from_stat(&dir.stat(Path::new(name)).map_err(|_| ())?);
                settled &= fingerprint.is_settled(now);
                let path = path.as_os_str().as_encoded_bytes();
                digest.update((path.len() as u64).to_be_bytes());
                digest.update(path);
                fingerprint.to_numbers().iter().for_each(|number| digest.update(number.to_be_bytes()));
                Ok(())
            }
            WalkEvent::Entry { kind: EntryKind::Symlink | EntryKind::Special | EntryKind::Dir, .. }
            | WalkEvent::Skipped(..) => Err(()),
        })
        .ok()?;
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self { digest, settled })
    }
}

/// The tree hashes by directory, as stored in the user's state.
#[derive(Debug, Default, Serialize, Deserialize)]
struct HashCache {
    folders: BTreeMap<PathBuf, CachedHash>,
    #[serde(skip)]
    changed: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct CachedHash {
    /// The digest of the [`TreeFingerprint`] for which `tree` was computed.
    #[serde(rename = "stamp")]
    fingerprint: String,
    tree: String,
}

impl HashCache {
    fn path(host: &HostEnv) -> Option<PathBuf> {
        Some(host.state_dir()?.join("hashes.json"))
    }

    /// Reads the cache. It only saves work, so an unreadable cache counts as empty.
    fn read(host: &HostEnv) -> Self {
        let bytes = Self::path(host).and_then(|path| read_bounded(&path, CACHE_MAX));
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn write(&self, host: &HostEnv) -> std::io::Result<()> {
        let Some(path) = Self::path(host) else { return Ok(()) };
        let _lock = lock(&path)?;
        write_private(&path, &serde_json::to_vec(self)?)
    }
}

impl<'w> IntegrityCheck<'w> {
    pub(crate) fn new(index: &LockIndex, roots: &[Arc<Root>], host: &'w HostEnv) -> Self {
        let mut files: Vec<(PathBuf, Option<Fingerprint>)> = Vec::new();
        let mut locks = Vec::new();
        for root in roots.iter().filter(|root| root.is_dir()) {
            let project = root.base().map(|base| (project_lock_path(base), Some(base)));
            let user = user_lock_path(host).map(|path| (path, None));
            let mut root_locks = Vec::new();
            for (path, base) in project.into_iter().chain(user) {
                if !files.iter().any(|(listed, _)| *listed == path) {
                    files.push((path.clone(), Fingerprint::from_path(&path)));
                }
                let lock = index.load(&path, base, host);
                if lock.is_relevant() {
                    root_locks.push(lock);
                }
            }
            if !root_locks.is_empty() {
                locks.push((Arc::clone(root), root_locks));
            }
        }
        if let Some(path) = accepted::accepted_path(host).filter(|_| !locks.is_empty()) {
            files.push((path.clone(), Fingerprint::from_path(&path)));
        }
        let (accepted, cache, fingerprints) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        Self { host, locks, files, accepted, cache, fingerprints }
    }

    /// Returns how an installed skill differs from its lock file; `None` if it does not differ, is not locked,
    /// or the user accepted the changes. A lock file that cannot be read may name any skill, so it counts as a
    /// difference. Lock files are consulted in the same order as by [`LockIndex::verify`].
    pub(crate) fn difference(&self, skill: &DiscoveredSkill) -> Option<ModifiedReason> {
        let (_, locks) = self.locks.iter().find(|(root, _)| **root == *skill.root())?;
        let dir = skill.canonical_dir();
        let mut entries = locks
            .iter()
            .flat_map(|lock| locked_dirs(skill).filter_map(|dir| lock.expected(&dir).transpose()));
        let expected = match entries.next()? {
            Ok([]) => return None,
            Ok(expected) => expected,
            Err(error) => return Some(ModifiedReason::Lock(error.clone())),
        };
        let fingerprint = TreeFingerprint::for_dir(&dir);
        // The locked files, or those that the user accepted instead.
        let is_expected = |tree: &str| {
            let accepted = || self.accepted.get_or_init(|| accepted::accepted_trees(self.host)).get(&dir);
            expected.iter().any(|locked| locked.tree == tree)
                || accepted().is_some_and(|accepted| accepted == tree)
        };
        let cache = self.cache.get_or_init(|| Mutex::new(HashCache::read(self.host)));
        let cache = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        let settled = fingerprint
            .as_ref()
            .filter(|fingerprint| fingerprint.settled)
            .map(|fingerprint| fingerprint.digest.clone());
        self.fingerprints.lock().unwrap_or_else(PoisonError::into_inner).push((dir.clone(), fingerprint));
        let is_known = settled.as_ref().is_some_and(|fingerprint| {
            cache()
                .folders
                .get(&dir)
                .is_some_and(|cached| cached.fingerprint == *fingerprint && is_expected(&cached.tree))
        });
        if is_known {
            return None;
        }
        let tree = HashedTree::from_resolved_dir(&dir);
        let hash = tree.as_ref().ok().map(HashedTree::hash);
        if hash.as_deref().is_some_and(is_expected) {
            if let (Some(fingerprint), Some(tree)) = (settled, hash) {
                let mut cache = cache();
                cache.changed = true;
                if cache.folders.len() >= DIRS_MAX {
                    cache.folders.clear();
                }
                cache.folders.insert(dir, CachedHash { fingerprint, tree });
            }
            return None;
        }
        expected.last().map(|locked| ModifiedReason::Files(compare_with_lock(locked, &tree).to_string()))
    }

    /// Stores new hashes and returns the inputs of the check.
    pub(crate) fn finish(self) -> IntegrityInputs {
        if let Some(cache) = self.cache.into_inner() {
            let cache = cache.into_inner().unwrap_or_else(PoisonError::into_inner);
            if cache.changed {
                // A hash that cannot be stored is computed again next time.
                let _ = cache.write(self.host);
            }
        }
        let fingerprints = self.fingerprints.into_inner().unwrap_or_else(PoisonError::into_inner);
        IntegrityInputs { files: self.files, fingerprints }
    }
}
