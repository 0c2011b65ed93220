//! Decides which discovered skills are trusted.
//!
//! Invariant: a project's skill is trusted only if the directory it was found in is trusted. A skill behind a
//! symlink also needs trust for the directory that the symlink points to. The nearest decision counts, from the
//! directory upwards.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::TrustDecisions;
use super::store::{TrustDecision, TrustRecord, find_decision, is_repository};
use crate::skill::{DiscoveredSkill, Root, UntrustedReason};
use prowess_fs::tree_hash_resolved;

/// Checks the trust of the skills of one scan.
pub(crate) struct TrustGate<'a> {
    /// The user's decisions by directory. A map, because there may be one for each skill.
    records: HashMap<&'a Path, &'a TrustRecord>,
    projects: Vec<ProjectRoot<'a>>,
    /// Where symlinks may point without a decision: the user's own roots, and the directories in the
    /// configuration.
    allowed_targets: Vec<PathBuf>,
    /// The hashes so far: many symlinks may point to one directory.
    hashed: Mutex<HashMap<PathBuf, Option<String>>>,
    repositories: RepositoryCache,
}

/// The directories that were checked for a `.git`, and whether they have one.
#[derive(Debug, Default)]
pub(crate) struct RepositoryCache(Mutex<HashMap<PathBuf, bool>>);

impl RepositoryCache {
    fn is_repository(&self, directory: &Path) -> bool {
        let cache = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_repository) = cache().get(directory) {
            return *is_repository;
        }
        let is_repository = is_repository(directory);
        cache().insert(directory.to_owned(), is_repository);
        is_repository
    }

    /// Returns `true` if no `.git` was created or removed since it was checked.
    pub(crate) fn is_unchanged(&self) -> bool {
        let checked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checked.iter().all(|(directory, was_repository)| is_repository(directory) == *was_repository)
    }
}

/// A root whose skills need trust.
struct ProjectRoot<'a> {
    root: &'a Root,
    /// The project directory whose trust the skills need.
    base: &'a Path,
    /// Whether the root is really inside its base, and not behind a symlink.
    inside: bool,
    decision: TrustDecision<'a>,
    /// Whether the user also decided about directories inside the root.
    has_inner_decisions: bool,
}

impl<'a> TrustGate<'a> {
    /// Creates a gate. `allowed_link_targets` are the canonical directories that the configuration allows symlinks to.
    pub(crate) fn new(
        trust: &'a TrustDecisions,
        roots: &'a [Arc<Root>],
        allowed_link_targets: &[PathBuf],
    ) -> Self {
        let records: HashMap<_, _> =
            trust.file.folders.iter().map(|record| (record.path.as_path(), record)).collect();
        let repositories = RepositoryCache::default();
        let project = |root: &'a Arc<Root>| {
            let base = root.base()?;
            let canonical = std::fs::canonicalize(base).unwrap_or_else(|_| base.to_owned());
            let inside = root.canonical().starts_with(&canonical);
            let start = if inside { root.canonical() } else { &canonical };
            let decision = nearest(&records, start, &repositories);
            let has_inner_decisions =
                inside && trust.file.folders.iter().any(|record| record.path.starts_with(root.canonical()));
            Some(ProjectRoot { root, base, inside, decision, has_inner_decisions })
        };
        let user_roots = |root: &&Arc<Root>| root.base().is_none() && root.is_dir();
        let user_roots = roots.iter().filter(user_roots).map(|root| root.canonical().to_owned());
        let projects = roots.iter().filter_map(project).collect();
        let allowed_targets = user_roots.chain(allowed_link_targets.iter().cloned()).collect();
        Self { records, projects, allowed_targets, hashed: Mutex::default(), repositories }
    }

    /// Returns why a skill is not trusted; `None` if it is. `tree_hash` returns the tree hash of a directory, which
    /// pinned trust needs.
    pub(crate) fn untrusted_reason(
        &self,
        skill: &DiscoveredSkill,
        tree_hash: &TreeHasher,
    ) -> Option<UntrustedReason> {
        let project = self.projects.iter().find(|project| project.root == skill.root());
        let reason = project.and_then(|project| {
            let dir = skill.root().canonical().join(skill.relative_dir());
            let needs_lookup = project.has_inner_decisions || self.in_nested_repository(&dir, skill.root());
            let decision = if needs_lookup {
                nearest(&self.records, &dir, &self.repositories)
            } else {
                project.decision.clone()
            };
            self.reason_for(skill, decision, project.base, tree_hash)
        });
        let is_linked = skill.link().is_some() || project.is_some_and(|project| !project.inside);
        reason.or_else(|| if is_linked { self.untrusted_target(skill, tree_hash) } else { None })
    }

    /// Returns why the target of a symlink is not trusted; `None` if it is.
    fn untrusted_target(&self, skill: &DiscoveredSkill, tree_hash: &TreeHasher) -> Option<UntrustedReason> {
        let target = skill.link().map_or_else(|| skill.canonical_dir(), |link| link.target.clone());
        if self.allowed_targets.iter().any(|dir| target.starts_with(dir)) {
            return None;
        }
        let holder = self.projects.iter().find(|project| target.starts_with(project.root.canonical()));
        let decision = nearest(&self.records, &target, &self.repositories);
        self.reason_for(skill, decision, holder.map_or(&target, |project| project.base), tree_hash)
    }

    /// Returns why a decision about `dir` does not trust a skill; `None` if it does.
    fn reason_for(
        &self,
        skill: &DiscoveredSkill,
        decision: TrustDecision<'_>,
        dir: &Path,
        tree_hash: &TreeHasher,
    ) -> Option<UntrustedReason> {
        match decision {
            TrustDecision::None => Some(UntrustedReason::Project(dir.to_owned())),
            TrustDecision::NestedRepository(repository) => {
                Some(UntrustedReason::NestedRepository(repository))
            }
            TrustDecision::Recorded(record) if !record.trusted => {
                Some(UntrustedReason::Project(record.path.clone()))
            }
            TrustDecision::Recorded(record) if record.pinned => check_pinned(skill, record, tree_hash),
            TrustDecision::Recorded(_) => None,
        }
    }

    /// Returns whether any decision depends on more files than discovery reads, and the directories that were
    /// checked for a `.git`.
    pub(crate) fn finish(self) -> (bool, RepositoryCache) {
        let hashed = self.hashed.into_inner().unwrap_or_else(PoisonError::into_inner);
        (!hashed.is_empty(), self.repositories)
    }

    /// Returns `true` if a skill is in a git repository that begins below its root.
    fn in_nested_repository(&self, dir: &Path, root: &Root) -> bool {
        let mut dirs = dir.ancestors().take_while(|dir| *dir != root.canonical());
        dirs.any(|directory| self.repositories.is_repository(directory))
    }

    /// Returns the tree hash of a directory, or `None` if it cannot be read. Each directory is read once.
    pub(crate) fn hash(&self, dir: &Path) -> Option<String> {
        let hashed = || self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = hashed().get(dir).cloned();
        // Do not hold the lock while hashing: other threads hash other directories.
        cached.unwrap_or_else(|| {
            let computed = tree_hash_resolved(dir).ok();
            hashed().insert(dir.to_owned(), computed.clone());
            computed
        })
    }
}

/// Returns the tree hash of a directory, or `None` if it cannot be read.
type TreeHasher<'h> = dyn Fn(&Path) -> Option<String> + 'h;

/// Returns why a skill differs from the files that the user trusted; `None` if it does not. A directory without a
/// hash differs.
fn check_pinned(
    skill: &DiscoveredSkill,
    record: &TrustRecord,
    tree_hash: &TreeHasher,
) -> Option<UntrustedReason> {
    let dir = skill.canonical_dir();
    if record.is_pinned_to(&dir, None).is_none() {
        return Some(UntrustedReason::Added(record.path.clone()));
    }
    let is_unchanged = record.is_pinned_to(&dir, tree_hash(&dir).as_deref()).unwrap_or(false);
    (!is_unchanged).then(|| UntrustedReason::Changed(record.path.clone()))
}

/// Returns the decision that applies to a directory.
fn nearest<'a>(
    records: &HashMap<&'a Path, &'a TrustRecord>,
    dir: &Path,
    repositories: &RepositoryCache,
) -> TrustDecision<'a> {
    find_decision(dir, |dir| records.get(dir).copied(), |directory| repositories.is_repository(directory))
}
