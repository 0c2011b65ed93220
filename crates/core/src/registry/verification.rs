//! What a registry passes to its skills: their locks, pinned trust, and the servers that they came from.

use std::sync::Arc;

use crate::lock::{Book, Locked};
use crate::skill::{Closed, Skill, Verify, shown};
use crate::supply::{Supplied, Supply, SupplyError, Unverified, verify};
use prowess_fs::HashedTree;

/// The services of one scan.
#[derive(Debug)]
pub(super) struct Verification {
    book: Book,
    supplies: Vec<Arc<dyn Supply>>,
}

impl Verification {
    pub(super) fn new(book: Book, supplies: &[Arc<dyn Supply>]) -> Self {
        Self { book, supplies: supplies.to_vec() }
    }

    /// The server that a skill came from. A label is the identity of a server, in approvals too.
    fn supply(&self, supplied: &Supplied, path: &str) -> Result<&dyn Supply, Unverified> {
        let known = self.supplies.iter().find(|supply| supply.label() == supplied.label());
        known.map(|supply| &**supply).ok_or_else(|| Unverified::Supply {
            name: shown(&supplied.offered().name),
            path: shown(path),
            origin: supplied.origin(),
            why: SupplyError::Unreachable("it is not configured".to_owned()),
        })
    }
}

impl Verify for Verification {
    fn locked(&self, skill: &Skill) -> Option<Locked> {
        self.book.locked(skill)
    }

    fn admit(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), Closed> {
        self.book.admit(skill, path, bytes)
    }

    fn admit_file(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), Closed> {
        self.book.admit_file(skill, path, bytes)
    }

    fn admit_tree(&self, skill: &Skill, tree: &HashedTree, left_out: &[String]) -> Result<(), Closed> {
        self.book.admit_tree(skill, tree, left_out)
    }

    fn fetch(&self, supplied: &Supplied, path: &str) -> Result<Vec<u8>, Unverified> {
        verify::fetch(self.supply(supplied, path)?, supplied.offered(), path)
    }

    fn fetch_skill_md(&self, supplied: &Supplied) -> Result<Vec<u8>, Unverified> {
        verify::fetch_skill_md(self.supply(supplied, "SKILL.md")?, supplied.offered())
    }
}
