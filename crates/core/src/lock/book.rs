//! The locks that speak for the skills of a registry, read when somebody first asks and again when they change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::lock_file::{
    Comparison, Lock, LockError, Locked, accepted, compare, place, project_file, user_file,
};
use crate::skill::{Closed, Skill, shown, shown_name};
use crate::surroundings::Surroundings;
use prowess_fs::Fingerprint;
use prowess_fs::{HashedTree, TreeError, digest};

/// All locks of one world.
#[derive(Debug, Default)]
pub(crate) struct Book {
    world: Option<Surroundings>,
    pages: Mutex<HashMap<PathBuf, Read>>,
}

/// A lock as it was when it was read.
type Read = (Option<Fingerprint>, Arc<Page>);

/// One lock, by folders.
#[derive(Debug)]
pub(super) struct Page(Result<HashMap<PathBuf, Vec<Locked>>, LockError>);

/// What a lock says of a skill.
#[derive(Debug)]
pub(crate) struct Entry {
    page: Arc<Page>,
    folder: PathBuf,
}

impl Book {
    pub(crate) fn new(world: &Surroundings) -> Self {
        Self { world: Some(world.clone()), pages: Mutex::default() }
    }

    /// What speaks for a skill: the lock of its project, or the user's.
    fn entry(&self, skill: &Skill) -> Result<Option<Entry>, Closed> {
        let Some(world) = &self.world else { return Ok(None) };
        if !skill.root().is_folder() {
            return Ok(None);
        }
        let project = skill.root().base().map(|base| (project_file(base), Some(base)));
        let user = user_file(world).map(|path| (path, None));
        for (path, base) in project.into_iter().chain(user) {
            let page = self.page(&path, base, world);
            let folders = page.0.as_ref().map_err(|error| Closed::Lock {
                name: shown_name(skill),
                why: shown(&error.without_folder()),
            })?;
            let folder = skill.canonical_folder();
            if folders.contains_key(&folder) {
                return Ok(Some(Entry { page, folder }));
            }
        }
        Ok(None)
    }

    pub(super) fn page(&self, path: &Path, base: Option<&Path>, world: &Surroundings) -> Arc<Page> {
        let now = Fingerprint::at(path);
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        match pages.get(path) {
            Some((then, page)) if *then == now => return Arc::clone(page),
            _ => {}
        }
        let page = Arc::new(Page::read(path, base, world.home.as_deref()));
        pages.insert(path.to_owned(), (now, Arc::clone(&page)));
        page
    }

    /// The entry of the lock that a skill was installed by.
    pub(crate) fn locked(&self, skill: &Skill) -> Option<Locked> {
        self.entry(skill).ok()??.expected().first().cloned()
    }

    /// Refuses a skill that is not what its lock says, or from which these bytes were not read.
    pub(crate) fn admit(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), Closed> {
        let Some(entry) = self.entry(skill)? else { return Ok(()) };
        let tree = HashedTree::of_resolved(&entry.folder);
        let used = digest(bytes);
        // What was hashed must be what is used, whatever happened between the two.
        let is_used = |tree: &HashedTree| tree.file(path).is_some_and(|file| file.digest() == used);
        if let Ok(tree) = &tree
            && is_used(tree)
            && self.vouches(&entry, &tree.hash())
        {
            return Ok(());
        }
        let difference = entry.expected().last().map(|locked| compare(locked, &tree)).unwrap_or_default();
        Err(Closed::Modified { name: shown_name(skill), difference: told(&difference) })
    }

    /// The same for one file of a skill that is in use already.
    pub(crate) fn admit_file(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), Closed> {
        let Some(entry) = self.entry(skill)? else { return Ok(()) };
        let used = digest(bytes);
        match entry.expected().iter().any(|locked| locked.files.get(path) == Some(&used)) {
            true => Ok(()),
            false => self.admit(skill, path, bytes),
        }
    }

    /// Refuses files that were read together and are not what the lock says, or not what trust was pinned to. Nothing
    /// is read again: these files are what is used.
    pub(crate) fn admit_tree(
        &self,
        skill: &Skill,
        tree: &HashedTree,
        left_out: &[String],
    ) -> Result<(), Closed> {
        let Some(world) = &self.world else { return Ok(()) };
        if !skill.root().is_folder() {
            return Ok(());
        }
        let hash = tree.hash();
        if let Some(entry) = self.entry(skill)?
            && (!left_out.is_empty() || !self.vouches(&entry, &hash))
        {
            let tree = match left_out.first() {
                Some(path) => Err(TreeError::NotRegular(path.into())),
                None => Ok(tree.clone()),
            };
            let difference = entry.expected().last().map(|locked| compare(locked, &tree)).unwrap_or_default();
            return Err(Closed::Modified { name: shown_name(skill), difference: told(&difference) });
        }
        match skill.root().base().is_some() && !crate::trust_store::still_pinned(skill, &hash, world) {
            true => Err(Closed::Untrusted { name: shown_name(skill), why: "it changed since it was" }),
            false => Ok(()),
        }
    }

    fn vouches(&self, entry: &Entry, tree: &str) -> bool {
        let known = || accepted(self.world.as_ref()?, &entry.folder);
        entry.expected().iter().any(|locked| locked.tree == tree) || known().as_deref() == Some(tree)
    }
}

fn told(difference: &Comparison) -> String {
    match difference.is_same() {
        true => "it changes while it is read".to_owned(),
        false => difference.to_string(),
    }
}

impl Page {
    /// Returns `true` if skills depend on the lock: it names some, or cannot be read.
    pub(super) fn is_relevant(&self) -> bool {
        !self.0.as_ref().is_ok_and(HashMap::is_empty)
    }

    /// What a folder may hold; `None` where the lock does not name it.
    pub(super) fn expected(&self, folder: &Path) -> Result<Option<&[Locked]>, &LockError> {
        Ok(self.0.as_ref()?.get(folder).map(Vec::as_slice))
    }

    fn read(path: &Path, base: Option<&Path>, home: Option<&Path>) -> Self {
        let lock = match Lock::read(path) {
            Ok(lock) => lock,
            Err(error) => return Self(Err(error)),
        };
        let mut parents: HashMap<PathBuf, PathBuf> = HashMap::new();
        let mut folders: HashMap<PathBuf, Vec<Locked>> = HashMap::new();
        // What a folder may hold: what the lock says, and what a change that has begun makes of it.
        let changes = lock.pending.into_iter().flat_map(|pending| pending.changes);
        let changes = changes.map(|change| (change.folder, change.after));
        let skills = lock.skills.into_iter().map(|locked| (locked.folder.clone(), Some(locked)));
        for (folder, locked) in skills.chain(changes) {
            let Some(place) = place(&folder, base, home) else { continue };
            let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else { continue };
            let canonical = parents
                .entry(parent.to_owned())
                .or_insert_with(|| std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()));
            folders.entry(canonical.join(name)).or_default().extend(locked);
        }
        Self(Ok(folders))
    }
}

impl Entry {
    fn expected(&self) -> &[Locked] {
        self.page.expected(&self.folder).ok().flatten().unwrap_or_default()
    }
}
