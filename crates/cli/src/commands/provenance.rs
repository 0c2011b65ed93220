//! Where an installed skill came from, and whether it is still what was installed: for `info` and `why`.

use std::path::PathBuf;

use prowess::lock::{self, Comparison, Granted, Locked};
use prowess::{HashedTree, Skill};
use serde_json::{Value, json};

use super::packages::origin;
use crate::context::Context;
use crate::output::{clean, clean_path};

/// What the lock says of a skill, beside what is there.
pub(super) struct Provenance {
    locked: Locked,
    lock: PathBuf,
    difference: Comparison,
    /// Whether the user accepted exactly what is there.
    accepted: bool,
}

impl Provenance {
    /// Of a skill that was installed; this hashes its files.
    pub(super) fn of(skill: &Skill, context: &Context) -> Option<Self> {
        let locked = skill.locked()?;
        let world = &context.surroundings;
        let lock = lock::file_of(skill, &locked, world)?;
        let folder = skill.canonical_folder();
        let tree = HashedTree::of_resolved(&folder);
        let hash = tree.as_ref().ok().map(HashedTree::hash);
        let accepted = hash.is_some() && lock::accepted(world, &folder) == hash;
        let difference = lock::compare(&locked, &tree);
        Some(Self { locked, lock, difference, accepted })
    }

    /// What it was installed from.
    pub(super) fn origin(&self) -> String {
        origin(&self.locked)
    }

    /// How it differs from what was installed, and that this is all right where the user said so.
    pub(super) fn changed(&self) -> Option<String> {
        match (self.difference.is_same(), self.accepted) {
            (true, _) => None,
            (false, true) => Some(format!("modified and accepted as it is: {}", self.difference)),
            (false, false) => Some(format!("modified since it was installed: {}", self.difference)),
        }
    }

    /// Whether it will not be loaded.
    pub(super) fn is_refused(&self) -> bool {
        !self.difference.is_same() && !self.accepted
    }

    /// What the lock says was granted, where that is not what is.
    pub(super) fn recorded(&self, granted: &Granted) -> Option<String> {
        (self.locked.granted != *granted).then(|| clean(&self.locked.granted.told()).into_owned())
    }

    /// For people, one row a fact.
    pub(super) fn rows(&self, context: &Context) -> Vec<(String, String)> {
        let locked = &self.locked;
        let lock = clean_path(&prowess::short_path(&self.lock, &context.surroundings));
        let name = locked.renamed_from.as_ref().map(|name| ("called there", name.clone()));
        let when = locked.installed_at.as_ref().map(|time| ("installed at", time.clone()));
        let state = self.changed().unwrap_or_else(|| "as installed".to_owned());
        let rows = [("installed from", self.origin())]
            .into_iter()
            .chain(name)
            .chain(when)
            .chain([("state", state)])
            .chain([("audit", format!("{} (rules of {})", locked.audit.verdict, locked.audit.rules))])
            .chain([("lock", lock)]);
        rows.map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
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
