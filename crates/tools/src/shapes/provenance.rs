//! Where an installed skill came from, and whether it is still what was installed.

use std::path::PathBuf;

use prowess::lock::{self, Comparison, Locked};
use prowess::{HashedTree, Skill, Surroundings};
use serde_json::{Value, json};

/// What the lock says of a skill, beside what is there.
#[derive(Debug)]
pub struct Provenance {
    /// What the lock says.
    pub locked: Locked,
    /// The lock.
    pub lock: PathBuf,
    difference: Comparison,
    /// Whether the user accepted exactly what is there.
    accepted: bool,
}

impl Provenance {
    /// Of a skill that was installed; this hashes its files.
    pub fn of(skill: &Skill, world: &Surroundings) -> Option<Self> {
        let locked = skill.locked()?;
        let lock = lock::file_of(skill, &locked, world)?;
        let folder = skill.canonical_folder();
        let tree = HashedTree::of_resolved(&folder);
        let hash = tree.as_ref().ok().map(HashedTree::hash);
        let accepted = hash.is_some() && lock::accepted(world, &folder) == hash;
        let difference = lock::compare(&locked, &tree);
        Some(Self { locked, lock, difference, accepted })
    }

    /// How it differs from what was installed, and that this is all right where the user said so.
    pub fn changed(&self) -> Option<String> {
        match (self.difference.is_same(), self.accepted) {
            (true, _) => None,
            (false, true) => Some(format!("modified and accepted as it is: {}", self.difference)),
            (false, false) => Some(format!("modified since it was installed: {}", self.difference)),
        }
    }

    /// Whether it will not be loaded.
    pub fn is_refused(&self) -> bool {
        !self.difference.is_same() && !self.accepted
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let locked = &self.locked;
        json!({
            "source": locked.source,
            "ref": locked.reference,
            "commit": locked.commit,
            "path": locked.path,
            "renamed_from": locked.renamed_from,
            "tree": locked.tree,
            "audit": locked.audit,
            "capabilities": locked.capabilities,
            "granted": locked.granted,
            "installed_at": locked.installed_at,
            "lock": self.lock,
            "status": if self.difference.is_same() { "ok" } else { "modified" },
            "difference": self.changed().map(|_| self.difference.to_string()),
            "accepted": self.accepted,
        })
    }
}
