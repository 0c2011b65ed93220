//! The lock files that cover the skills of a registry, loaded on first use and reloaded when they change.

use std::collections::HashMap;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::host_env::HostEnv;
use crate::lock_file::{
    LockEntry, LockFile, ReadLockError, accepted_tree, compare_with_lock, project_lock_path,
    resolve_lock_dir, user_lock_path,
};
use crate::skill::{DiscoveredSkill, ResourceUnavailable, Skill, display_name, display_text};
use prowess_fs::Fingerprint;
use prowess_fs::{HashedTree, TreeHashError, digest};

/// All lock files of one host environment.
#[derive(Debug)]
pub(crate) struct LockIndex {
    host: HostEnv,
    loaded: Mutex<HashMap<PathBuf, CachedLock>>,
}

/// A lock file and the fingerprint it had when it was read.
type CachedLock = (Option<Fingerprint>, Arc<IndexedLock>);

/// The entries of one lock file, by canonical directory.
#[derive(Debug)]
pub(super) struct IndexedLock(Result<HashMap<PathBuf, Vec<LockEntry>>, ReadLockError>);

/// A skill's directory and the lock file that covers it.
#[derive(Debug)]
pub(crate) struct Coverage {
    lock: Arc<IndexedLock>,
    /// The directory in the lock file.
    locked_dir: PathBuf,
    /// The same directory with all symlinks resolved.
    dir: PathBuf,
}

impl LockIndex {
    pub(crate) fn new(host: &HostEnv) -> Self {
        Self { host: host.clone(), loaded: Mutex::default() }
    }

    /// Returns the lock file that covers a skill: that of its project, or the user's.
    fn coverage(&self, skill: &Skill) -> Result<Option<Coverage>, ResourceUnavailable> {
        if !skill.root().is_dir() {
            return Ok(None);
        }
        let project = skill.root().base().map(|base| (project_lock_path(base), Some(base)));
        let user = user_lock_path(&self.host).map(|path| (path, None));
        for (path, base) in project.into_iter().chain(user) {
            let lock = self.load(&path, base, &self.host);
            let dirs = lock.0.as_ref().map_err(|error| ResourceUnavailable::Lock {
                name: display_name(skill),
                reason: display_text(&error.without_dir()),
            })?;
            if let Some(locked_dir) = locked_dirs(skill).find(|dir| dirs.contains_key(dir)) {
                return Ok(Some(Coverage { lock, locked_dir, dir: skill.canonical_dir() }));
            }
        }
        Ok(None)
    }

    pub(super) fn load(&self, path: &Path, base: Option<&Path>, host: &HostEnv) -> Arc<IndexedLock> {
        let current = Fingerprint::from_path(path);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        match loaded.get(path) {
            Some((cached, lock)) if *cached == current => return Arc::clone(lock),
            _ => {}
        }
        let lock = Arc::new(IndexedLock::read(path, base, host.home.as_deref()));
        loaded.insert(path.to_owned(), (current, Arc::clone(&lock)));
        lock
    }

    /// Returns the lock file's entry for an installed skill.
    pub(crate) fn lock_entry(&self, skill: &Skill) -> Option<LockEntry> {
        // While a change is pending, the entry before it comes first.
        self.coverage(skill).ok()??.entries().first().cloned()
    }

    /// Verifies that a skill matches its lock file and that its file at `path` has these bytes.
    pub(crate) fn verify(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable> {
        let Some(coverage) = self.coverage(skill)? else { return Ok(()) };
        let tree = HashedTree::from_resolved_dir(&coverage.dir);
        let used = digest(bytes);
        // The hashed bytes must be the ones that are used, even if the file changed in between.
        let is_used = |tree: &HashedTree| tree.file(path).is_some_and(|file| file.digest() == used);
        if let Ok(tree) = &tree
            && is_used(tree)
            && self.accepts(&coverage, &tree.hash())
        {
            return Ok(());
        }
        Err(modified(skill, &coverage, &tree))
    }

    /// Verifies one file of a skill that is already in use. See [`Self::verify`].
    pub(crate) fn verify_file(
        &self,
        skill: &Skill,
        path: &str,
        bytes: &[u8],
    ) -> Result<(), ResourceUnavailable> {
        let Some(coverage) = self.coverage(skill)? else { return Ok(()) };
        let used = digest(bytes);
        match coverage.entries().iter().any(|locked| locked.files.get(path) == Some(&used)) {
            true => Ok(()),
            false => self.verify(skill, path, bytes),
        }
    }

    /// Verifies files that were read together. Does not read them again, so that the verified bytes are the ones
    /// that are used.
    pub(crate) fn verify_tree(
        &self,
        skill: &Skill,
        tree: &HashedTree,
        skipped: &[String],
    ) -> Result<(), ResourceUnavailable> {
        let Some(coverage) = self.coverage(skill)? else { return Ok(()) };
        if skipped.is_empty() && self.accepts(&coverage, &tree.hash()) {
            return Ok(());
        }
        let tree = match skipped.first() {
            Some(path) => Err(TreeHashError::NotRegular(path.into())),
            None => Ok(tree.clone()),
        };
        Err(modified(skill, &coverage, &tree))
    }

    /// Returns `true` if this tree hash is in the lock file, or is the one that the user accepted with
    /// `prowess verify --accept`.
    fn accepts(&self, coverage: &Coverage, tree: &str) -> bool {
        let accepted_hash = || accepted_tree(&self.host, &coverage.dir);
        coverage.entries().iter().any(|locked| locked.tree == tree)
            || accepted_hash().as_deref() == Some(tree)
    }
}

/// Returns the directories by which a lock file may name a skill: its own, and the symlink behind which it was found. An
/// installed directory that was replaced by a symlink stays locked.
pub(super) fn locked_dirs(skill: &DiscoveredSkill) -> impl Iterator<Item = PathBuf> {
    let (dir, found) = (skill.canonical_dir(), skill.found_dir());
    let link = (found != dir).then_some(found);
    iter::once(dir).chain(link)
}

/// Returns how a skill differs from its lock file.
fn modified(
    skill: &Skill,
    coverage: &Coverage,
    tree: &Result<HashedTree, TreeHashError>,
) -> ResourceUnavailable {
    // While a change is pending, the entry after it comes last; the directory is about to match that one.
    let difference =
        coverage.entries().last().map(|locked| compare_with_lock(locked, tree)).unwrap_or_default();
    let difference = match difference.is_unchanged() {
        true => "the files changed while they were read".to_owned(),
        false => difference.to_string(),
    };
    ResourceUnavailable::Modified { name: display_name(skill), difference }
}

impl IndexedLock {
    /// Returns `true` if the lock file affects any skill: it has entries, or it cannot be read.
    pub(super) fn is_relevant(&self) -> bool {
        !self.0.as_ref().is_ok_and(HashMap::is_empty)
    }

    /// Returns the entries that a directory may match; `None` if the lock file does not name it.
    pub(super) fn expected(&self, dir: &Path) -> Result<Option<&[LockEntry]>, &ReadLockError> {
        Ok(self.0.as_ref()?.get(dir).map(Vec::as_slice))
    }

    fn read(path: &Path, base: Option<&Path>, home: Option<&Path>) -> Self {
        let lock = match LockFile::read(path) {
            Ok(lock) => lock,
            Err(error) => return Self(Err(error)),
        };
        let mut parents: HashMap<PathBuf, PathBuf> = HashMap::new();
        let mut dirs: HashMap<PathBuf, Vec<LockEntry>> = HashMap::new();
        // A directory may match its entry or, while a change is pending, the entry after the change.
        let changes = lock.pending.into_iter().flat_map(|pending| pending.changes);
        let changes = changes.map(|change| (change.folder, change.after));
        let skills = lock.skills.into_iter().map(|locked| (locked.folder.clone(), Some(locked)));
        for (dir, locked) in skills.chain(changes) {
            let Some(path) = resolve_lock_dir(&dir, base, home) else { continue };
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let canonical = parents
                .entry(parent.to_owned())
                .or_insert_with(|| std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()));
            dirs.entry(canonical.join(name)).or_default().extend(locked);
        }
        Self(Ok(dirs))
    }
}

impl Coverage {
    /// Returns the entries that the directory may match, the one after a pending change last.
    fn entries(&self) -> &[LockEntry] {
        self.lock.expected(&self.locked_dir).ok().flatten().unwrap_or_default()
    }
}
