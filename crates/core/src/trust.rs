//! The directories that the user trusts. Stored in the user's state by path, so that a project cannot trust
//! itself.
//!
//! Invariant: a state that cannot be read trusts nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::discovery::ScanProgress;
use crate::host_env::HostEnv;
use crate::policy::{Policy, ProjectTrust};
use crate::registry::{Registry, Snapshot};
use crate::skill::Skill;
pub use crate::tree_hashes::TreeHashes;
use crate::trust_store::{TrustFile, canonicalize_dir};
pub use crate::trust_store::{TrustRecord, installed_pins, pin_installed, record_for, untrust};
use crate::usage::now;
pub use crate::user_state::TrustError;
use prowess_fs::tree_hash_resolved;

/// Trusts a directory and everything below it, except for nested git repositories. If `pinned`, only the current
/// skills are trusted, and only as long as their files do not change. Returns the new record and the previous one.
pub fn trust(
    dir: &Path,
    pinned: bool,
    policy: &Policy,
    host: &HostEnv,
) -> Result<(TrustRecord, Option<TrustRecord>), TrustError> {
    let path = canonicalize_dir(dir)?;
    let skills = hashes(&path, policy, host);
    let record = TrustRecord { path: path.clone(), trusted: true, pinned, at: now(), skills };
    let new_record = record.clone();
    let previous = TrustFile::update(host, |state| {
        let previous = state.remove(&path);
        state.folders.push(new_record);
        previous
    })?;
    Ok((record, previous))
}

/// The directories of skills that changed since their project was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangedSkills {
    /// New skills.
    pub added: Vec<PathBuf>,
    /// Skills that no longer exist.
    pub removed: Vec<PathBuf>,
    /// Skills with different files.
    pub changed: Vec<PathBuf>,
}

impl ChangedSkills {
    /// Returns `true` if nothing changed.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

/// Returns the skills in a trusted directory that were added, removed or changed since it was trusted.
pub fn changes_since(record: &TrustRecord, policy: &Policy, host: &HostEnv) -> ChangedSkills {
    let mut current = hashes(&record.path, policy, host);
    for dir in record.skills.keys() {
        // Discovery depends on the current project; a skill that it does not cover is not removed.
        if !current.contains_key(dir) && dir.join("SKILL.md").exists() {
            current.insert(dir.clone(), hash(dir));
        }
    }
    ChangedSkills {
        added: current.keys().filter(|path| !record.skills.contains_key(*path)).cloned().collect(),
        removed: record.skills.keys().filter(|path| !current.contains_key(*path)).cloned().collect(),
        changed: current
            .iter()
            .filter(|(path, hash)| record.skills.get(*path).is_some_and(|trusted| trusted != *hash))
            .map(|(path, _)| path.clone())
            .collect(),
    }
}

/// Returns the tree hash of each skill that trust in a directory is about. See [`skills_in`].
fn hashes(dir: &Path, policy: &Policy, host: &HostEnv) -> BTreeMap<PathBuf, TreeHashes> {
    let policy = Policy { trust: ProjectTrust::NotNeeded, ..policy.clone() };
    let skills = skills_in(dir, &policy, host);
    // JSON cannot represent paths that are not UTF-8. Without a hash, a pinned skill is not trusted.
    let dirs = skills.iter().map(|skill| skill.canonical_dir()).filter(|dir| dir.to_str().is_some());
    dirs.map(|dir| (dir.clone(), hash(&dir))).collect()
}

/// Returns the skills that trust in a directory is about, each once and with its current status: the skills of
/// projects in the directory, and the targets of symlinks there.
pub fn skills_in(dir: &Path, policy: &Policy, host: &HostEnv) -> Vec<Skill> {
    let mut hosts = vec![host.clone()];
    if !is_inside(&host.project, dir) {
        hosts.push(HostEnv { project: dir.to_owned(), ..host.clone() });
    }
    let mut skills: BTreeMap<PathBuf, Skill> = BTreeMap::new();
    for host in hosts {
        let registry = Registry::open_in(policy.clone(), host, &ScanProgress::default());
        let snapshot: &Snapshot = &registry.snapshot();
        let is_covered = |skill: &&Skill| {
            let base = skill.root().base();
            let inside = skill.canonical_dir().starts_with(dir);
            // The target of a symlink to elsewhere is not read.
            (inside && (base.is_some() || skill.link().is_some()))
                || (!skill.is_outside_known_dirs() && base.is_some_and(|base| is_inside(base, dir)))
        };
        for skill in snapshot.all().iter().filter(is_covered) {
            skills.entry(skill.canonical_dir()).or_insert_with(|| skill.clone());
        }
    }
    skills.into_values().collect()
}

/// Returns the tree hash of a skill, or none if its files cannot be read.
fn hash(dir: &Path) -> TreeHashes {
    TreeHashes::new(tree_hash_resolved(dir).into_iter().collect())
}

fn is_inside(base: &Path, dir: &Path) -> bool {
    fs::canonicalize(base).is_ok_and(|base| base.starts_with(dir))
}
