//! Which finds the user's trust lets in.
//!
//! What must always hold: a project's skill counts only if the folder it was found in is trusted, and what a link leads
//! to only if it is trusted there as well. The nearest decision decides, from the folder upwards.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Trust;
use super::store::{Decision, TrustRecord, decide, is_repository};
use crate::skill::{Found, Root, Untrusted};
use prowess_fs::resolved_tree_hash;

/// Judges the finds of one scan.
pub(crate) struct Gate<'a> {
    /// The user's decisions by folder: there may be one for each skill.
    records: HashMap<&'a Path, &'a TrustRecord>,
    projects: Vec<Project<'a>>,
    /// Where links may lead without asking: the user's own roots, and what the configuration names.
    free: Vec<PathBuf>,
    /// What has been hashed: many links may lead to one folder.
    hashed: Mutex<HashMap<PathBuf, Option<String>>>,
    repositories: Repositories,
}

/// The directories that were searched for a `.git`, and whether they have one.
#[derive(Debug, Default)]
pub(crate) struct Repositories(Mutex<HashMap<PathBuf, bool>>);

impl Repositories {
    fn contain(&self, directory: &Path) -> bool {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_repository) = known().get(directory) {
            return *is_repository;
        }
        let is_repository = is_repository(directory);
        known().insert(directory.to_owned(), is_repository);
        is_repository
    }

    /// Whether no `.git` was created or removed since.
    pub(crate) fn is_unchanged(&self) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().all(|(directory, was)| is_repository(directory) == *was)
    }
}

/// A root whose skills need trust.
struct Project<'a> {
    root: &'a Root,
    base: &'a Path,
    /// Whether the root lies in its base, and not behind a link.
    inside: bool,
    decision: Decision<'a>,
    /// Whether the user decided about folders in the root, too.
    divided: bool,
}

impl<'a> Gate<'a> {
    /// `links` are the places that the configuration names, without links.
    pub(crate) fn new(trust: &'a Trust, roots: &'a [Arc<Root>], links: &[PathBuf]) -> Self {
        let records: HashMap<_, _> =
            trust.state.folders.iter().map(|record| (record.path.as_path(), record)).collect();
        let repositories = Repositories::default();
        let project = |root: &'a Arc<Root>| {
            let base = root.base()?;
            let canonical = std::fs::canonicalize(base).unwrap_or_else(|_| base.to_owned());
            let inside = root.canonical().starts_with(&canonical);
            let start = if inside { root.canonical() } else { &canonical };
            let decision = nearest(&records, start, &repositories);
            let divided =
                inside && trust.state.folders.iter().any(|record| record.path.starts_with(root.canonical()));
            Some(Project { root, base, inside, decision, divided })
        };
        let own = |root: &&Arc<Root>| root.base().is_none() && root.is_folder();
        let own = roots.iter().filter(own).map(|root| root.canonical().to_owned());
        let projects = roots.iter().filter_map(project).collect();
        let free = own.chain(links.iter().cloned()).collect();
        Self { records, projects, free, hashed: Mutex::default(), repositories }
    }

    /// Why a find is not trusted; `None` where it is.
    pub(crate) fn refuses(&self, found: &Found) -> Option<Untrusted> {
        let project = self.projects.iter().find(|project| project.root == found.root());
        let refused = project.and_then(|project| {
            let folder = found.root().canonical().join(found.inner());
            let decision = match project.divided || self.in_nested_repository(&folder, found.root()) {
                true => nearest(&self.records, &folder, &self.repositories),
                false => project.decision.clone(),
            };
            self.judge(found, decision, project.base)
        });
        let led_away = found.link().is_some() || project.is_some_and(|project| !project.inside);
        refused.or_else(|| if led_away { self.refuses_target(found) } else { None })
    }

    /// The same where a link led to it.
    fn refuses_target(&self, found: &Found) -> Option<Untrusted> {
        let target = found.link().map_or_else(|| found.canonical_folder(), |link| link.target.clone());
        if self.free.iter().any(|place| target.starts_with(place)) {
            return None;
        }
        let holder = self.projects.iter().find(|project| target.starts_with(project.root.canonical()));
        let decision = nearest(&self.records, &target, &self.repositories);
        self.judge(found, decision, holder.map_or(&target, |project| project.base))
    }

    fn judge(&self, found: &Found, decision: Decision<'_>, folder: &Path) -> Option<Untrusted> {
        match decision {
            Decision::None => Some(Untrusted::Project(folder.to_owned())),
            Decision::NestedRepository(repository) => Some(Untrusted::NestedRepository(repository)),
            Decision::Made(record) if !record.trusted => Some(Untrusted::Project(record.path.clone())),
            Decision::Made(record) if record.pinned => self.pinned(found, record),
            Decision::Made(_) => None,
        }
    }

    /// Whether any find depends on more files than a scan looks at, and the directories that were searched for a `.git`.
    pub(crate) fn finish(self) -> (bool, Repositories) {
        let hashed = self.hashed.into_inner().unwrap_or_else(PoisonError::into_inner);
        (!hashed.is_empty(), self.repositories)
    }

    /// Whether a skill in a root is in a git repository that begins below the root.
    fn in_nested_repository(&self, folder: &Path, root: &Root) -> bool {
        let mut below = folder.ancestors().take_while(|above| *above != root.canonical());
        below.any(|directory| self.repositories.contain(directory))
    }

    fn pinned(&self, found: &Found, record: &TrustRecord) -> Option<Untrusted> {
        let folder = found.canonical_folder();
        if record.pins(&folder, None).is_none() {
            return Some(Untrusted::Added(record.path.clone()));
        }
        let hashed = || self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = hashed().get(&folder).cloned();
        // Others hash other folders meanwhile. One that cannot be hashed cannot be shown to be the same.
        let now = known.unwrap_or_else(|| {
            let now = resolved_tree_hash(&folder).ok();
            hashed().insert(folder.clone(), now.clone());
            now
        });
        let same = record.pins(&folder, now.as_deref()).unwrap_or(false);
        (!same).then(|| Untrusted::Changed(record.path.clone()))
    }
}

/// The decision about a folder.
fn nearest<'a>(
    records: &HashMap<&'a Path, &'a TrustRecord>,
    folder: &Path,
    repositories: &Repositories,
) -> Decision<'a> {
    decide(folder, |above| records.get(above).copied(), |directory| repositories.contain(directory))
}
