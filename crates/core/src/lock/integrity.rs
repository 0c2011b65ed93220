//! Whether locked skills still are what was installed, without reading all their files for every listing.
//!
//! A skill's files are hashed once; the user's state remembers the tree hash together with a stamp: the identity, size and
//! times of each file. As long as the stamp is the same, so is the hash. Nothing is loaded because of a stamp:
//! [`Book::admit`] hashes what it admits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::book::{Book, Page};
use crate::lock_file::{accepted, compare, project_file, user_file};
use crate::skill::{Found, Modified, Root};
use crate::surroundings::Surroundings;
use prowess_fs::HashedTree;
use prowess_fs::{Bounds, EntryKind, Fingerprint, Folder, Met, beneath, lock, now, read_bounded, replace};

const CACHE_MAX: u64 = 16 * 1024 * 1024;
/// Folders that are remembered. More than this is started anew.
const FOLDERS_MAX: usize = 20_000;
const ENTRIES_MAX: usize = 8_192;
const DEPTH_MAX: usize = 16;

/// Compares the locked skills of one scan with their locks.
pub(crate) struct Integrity<'w> {
    world: &'w Surroundings,
    /// The locks that have entries or cannot be read, for each root.
    pages: Vec<(Arc<Root>, Vec<Arc<Page>>)>,
    files: Vec<(PathBuf, Option<Fingerprint>)>,
    accepted: OnceLock<BTreeMap<PathBuf, String>>,
    cache: OnceLock<Mutex<Cache>>,
    stamps: Mutex<Vec<(PathBuf, Option<Stamp>)>>,
}

/// What a scan depended on, to see whether it is still so.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    files: Vec<(PathBuf, Option<Fingerprint>)>,
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

impl Compared {
    /// Whether neither a lock nor a file of a locked skill has changed.
    pub(crate) fn is_unchanged(&self) -> bool {
        let same_stamp = |(folder, was): &(PathBuf, Option<Stamp>)| {
            was.as_ref().is_some_and(|was| was.settled && Stamp::of(folder).as_ref() == Some(was))
        };
        self.files.iter().all(|(path, was)| Fingerprint::at(path) == *was)
            && self.stamps.iter().all(same_stamp)
    }
}

/// What the file system says about all files of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    digest: String,
    /// Whether all files were old enough for equal times to mean equal bytes.
    settled: bool,
}

impl Stamp {
    /// `None` for a folder that cannot be hashed, either.
    fn of(folder: &Path) -> Option<Self> {
        let (mut digest, mut settled, now) = (Sha256::new(), true, now());
        let bounds = Bounds { depth: DEPTH_MAX, entries: ENTRIES_MAX, enter: |_| true };
        let opened = Folder::open_resolved(folder).ok()?;
        beneath(&opened, bounds, &mut |met| match met {
            Met::Entry { folder, name, path, kind: EntryKind::File } => {
                let print = Fingerprint::of(&folder.stat(Path::new(name)).map_err(|_| ())?);
                settled &= print.is_settled(now);
                let path = path.as_os_str().as_encoded_bytes();
                digest.update((path.len() as u64).to_be_bytes());
                digest.update(path);
                print.numbers().iter().for_each(|number| digest.update(number.to_be_bytes()));
                Ok(())
            }
            Met::Entry { kind: EntryKind::Link | EntryKind::Special | EntryKind::Folder, .. }
            | Met::Closed(..) => Err(()),
        })
        .ok()?;
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self { digest, settled })
    }
}

/// Tree hashes by folder, as the user's state keeps them.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Cache {
    folders: BTreeMap<PathBuf, Hashed>,
    #[serde(skip)]
    changed: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Hashed {
    stamp: String,
    tree: String,
}

impl Cache {
    fn path(world: &Surroundings) -> Option<PathBuf> {
        Some(world.state()?.join("hashes.json"))
    }

    /// What was remembered. It only saves work, so one that cannot be read is empty.
    fn read(world: &Surroundings) -> Self {
        let bytes = Self::path(world).and_then(|path| read_bounded(&path, CACHE_MAX));
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn write(&self, world: &Surroundings) -> std::io::Result<()> {
        let Some(path) = Self::path(world) else { return Ok(()) };
        let _lock = lock(&path)?;
        replace(&path, &serde_json::to_vec(self)?)
    }
}

impl<'w> Integrity<'w> {
    pub(crate) fn new(book: &Book, roots: &[Arc<Root>], world: &'w Surroundings) -> Self {
        let mut files: Vec<(PathBuf, Option<Fingerprint>)> = Vec::new();
        let mut pages = Vec::new();
        for root in roots.iter().filter(|root| root.is_folder()) {
            let project = root.base().map(|base| (project_file(base), Some(base)));
            let user = user_file(world).map(|path| (path, None));
            let mut of_root = Vec::new();
            for (path, base) in project.into_iter().chain(user) {
                if !files.iter().any(|(known, _)| *known == path) {
                    files.push((path.clone(), Fingerprint::at(&path)));
                }
                let page = book.page(&path, base, world);
                if page.is_relevant() {
                    of_root.push(page);
                }
            }
            if !of_root.is_empty() {
                pages.push((Arc::clone(root), of_root));
            }
        }
        if let Some(path) = accepted::path(world).filter(|_| !pages.is_empty()) {
            files.push((path.clone(), Fingerprint::at(&path)));
        }
        let (accepted, cache, stamps) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        Self { world, pages, files, accepted, cache, stamps }
    }

    /// How a locked skill differs from its lock; `None` where it does not, is not locked, or was accepted as it is. A lock
    /// that cannot be read may name any skill, and is asked in the same order as by [`Book::admit`].
    pub(crate) fn difference(&self, found: &Found) -> Option<Modified> {
        let (_, pages) = self.pages.iter().find(|(root, _)| **root == *found.root())?;
        let folder = found.canonical_folder();
        let expected = match pages.iter().find_map(|page| page.expected(&folder).transpose())? {
            Ok([]) => return None,
            Ok(expected) => expected,
            Err(error) => return Some(Modified::Lock(error.clone())),
        };
        let stamp = Stamp::of(&folder);
        let is_vouched = |tree: &str| {
            let accepted = || self.accepted.get_or_init(|| accepted::all(self.world)).get(&folder);
            expected.iter().any(|locked| locked.tree == tree) || accepted().is_some_and(|known| known == tree)
        };
        let cache = self.cache.get_or_init(|| Mutex::new(Cache::read(self.world)));
        let cache = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        let settled = stamp.as_ref().filter(|stamp| stamp.settled).map(|stamp| stamp.digest.clone());
        self.stamps.lock().unwrap_or_else(PoisonError::into_inner).push((folder.clone(), stamp));
        let is_known = settled.as_ref().is_some_and(|stamp| {
            cache().folders.get(&folder).is_some_and(|known| known.stamp == *stamp && is_vouched(&known.tree))
        });
        if is_known {
            return None;
        }
        let tree = HashedTree::of_resolved(&folder);
        let hash = tree.as_ref().ok().map(HashedTree::hash);
        if hash.as_deref().is_some_and(is_vouched) {
            if let (Some(stamp), Some(tree)) = (settled, hash) {
                let mut cache = cache();
                cache.changed = true;
                if cache.folders.len() >= FOLDERS_MAX {
                    cache.folders.clear();
                }
                cache.folders.insert(folder, Hashed { stamp, tree });
            }
            return None;
        }
        expected.last().map(|locked| Modified::Files(compare(locked, &tree).to_string()))
    }

    /// Remembers what was hashed, and returns what the scan depended on.
    pub(crate) fn finish(self) -> Compared {
        if let Some(cache) = self.cache.into_inner() {
            let cache = cache.into_inner().unwrap_or_else(PoisonError::into_inner);
            if cache.changed {
                // What cannot be remembered is hashed again.
                let _ = cache.write(self.world);
            }
        }
        let stamps = self.stamps.into_inner().unwrap_or_else(PoisonError::into_inner);
        Compared { files: self.files, stamps }
    }
}
