//! Whom the user trusts. Kept in the user's state, keyed by path: a project cannot decide its own trust.
//!
//! What must always hold: a state that cannot be read trusts nobody.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::policy::{Policy, ProjectTrust};
use crate::registry::{Difference, Registry, Snapshot};
use crate::scan::Progress;
use crate::skill::Skill;
use crate::surroundings::Surroundings;
use crate::trust_store::{State, canonical, now};
pub use crate::trust_store::{TrustRecord, record_for, trust_installed, trusted_installed, untrust};
pub use crate::user_state::TrustError;
use prowess_fs::resolved_tree_hash;

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
        let before = state.take(&path);
        state.folders.push(kept);
        before
    })?;
    Ok((record, before))
}

/// What changed in a trusted folder since it was trusted: added, changed and removed skills, by their folders.
pub fn changes_since(record: &TrustRecord, policy: &Policy, world: &Surroundings) -> Difference {
    let mut now = hashes(&record.path, policy, world);
    for folder in record.skills.keys() {
        // Which skills are found depends on the present project; one that is not looked for is not gone.
        if !now.contains_key(folder) && folder.join("SKILL.md").exists() {
            now.insert(folder.clone(), hash(folder));
        }
    }
    let text = |path: &PathBuf| path.display().to_string();
    Difference {
        added: now.keys().filter(|path| !record.skills.contains_key(*path)).map(text).collect(),
        removed: record.skills.keys().filter(|path| !now.contains_key(*path)).map(text).collect(),
        changed: now
            .iter()
            .filter(|(path, hash)| record.skills.get(*path).is_some_and(|before| before != *hash))
            .map(|(path, _)| text(path))
            .collect(),
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
