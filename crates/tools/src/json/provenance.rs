//! The provenance of an installed skill: its source, and whether its files still match the lock file.

use std::path::PathBuf;

use prowess::lock::{self, LockComparison, LockEntry};
use prowess::{HashedTree, HostEnv, Skill};
use serde_json::{Value, json};

/// The lock entry of a skill, compared with its files.
#[derive(Debug)]
pub struct Provenance {
    /// The entry.
    pub entry: LockEntry,
    /// The path of the lock file.
    pub lock_path: PathBuf,
    difference: LockComparison,
    /// Whether the user accepted the current files with `prowess verify --accept`.
    accepted: bool,
}

impl Provenance {
    /// Returns the provenance of an installed skill. Hashes its files.
    pub fn for_skill(skill: &Skill, host: &HostEnv) -> Option<Self> {
        let entry = skill.lock_entry()?;
        let lock_path = lock::lock_path_for_skill(skill, &entry, host)?;
        let dir = skill.canonical_dir();
        let tree = HashedTree::from_resolved_dir(&dir);
        let hash = tree.as_ref().ok().map(HashedTree::hash);
        let accepted = hash.is_some() && lock::accepted_tree(host, &dir) == hash;
        let difference = lock::compare_with_lock(&entry, &tree);
        Some(Self { entry, lock_path, difference, accepted })
    }

    /// Describes how the skill differs from the installed files; `None` if it does not.
    pub fn describe_changes(&self) -> Option<String> {
        match (self.difference.is_unchanged(), self.accepted) {
            (true, _) => None,
            (false, true) => Some(format!("modified and accepted: {}", self.difference)),
            (false, false) => Some(format!("modified since it was installed: {}", self.difference)),
        }
    }

    /// Returns `true` if the skill is not loaded because of its changes.
    pub fn is_blocked(&self) -> bool {
        !self.difference.is_unchanged() && !self.accepted
    }

    /// Returns the provenance as JSON.
    pub fn to_json(&self) -> Value {
        let entry = &self.entry;
        json!({
            "source": entry.source,
            "ref": entry.reference,
            "commit": entry.commit,
            "path": entry.path,
            "renamed_from": entry.renamed_from,
            "plugin": entry.plugin,
            "tree": entry.tree,
            "audit": entry.audit,
            "capabilities": entry.capabilities,
            "granted": entry.granted,
            "installed_at": entry.installed_at,
            "lock": self.lock_path,
            "status": if self.difference.is_unchanged() { "ok" } else { "modified" },
            "difference": self.describe_changes().map(|_| self.difference.to_string()),
            "accepted": self.accepted,
        })
    }
}
