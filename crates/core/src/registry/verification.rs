//! The verifier that a registry passes to its skills: lock files, pinned trust and remote sources.

use std::sync::Arc;

use crate::lock::{LockEntry, LockIndex};
use crate::remote::{FetchError, RemoteFileError, RemoteSkill, RemoteSource, verify};
use crate::skill::{ResourceUnavailable, Skill, Verify, display_text};
use prowess_fs::HashedTree;

/// The services of one scan.
#[derive(Debug)]
pub(super) struct RegistryVerifier {
    locks: LockIndex,
    sources: Vec<Arc<dyn RemoteSource>>,
}

impl RegistryVerifier {
    pub(super) fn new(locks: LockIndex, sources: &[Arc<dyn RemoteSource>]) -> Self {
        Self { locks, sources: sources.to_vec() }
    }

    /// Returns the source of a remote skill. Labels identify sources, also in approvals.
    fn source(&self, remote: &RemoteSkill, path: &str) -> Result<&dyn RemoteSource, RemoteFileError> {
        let known = self.sources.iter().find(|source| source.label() == remote.label());
        known.map(|source| &**source).ok_or_else(|| RemoteFileError::Fetch {
            name: display_text(&remote.entry().name),
            path: display_text(path),
            origin: remote.origin(),
            why: FetchError::Unreachable("not configured".to_owned()),
        })
    }
}

impl Verify for RegistryVerifier {
    fn lock_entry(&self, skill: &Skill) -> Option<LockEntry> {
        self.locks.lock_entry(skill)
    }

    fn verify(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable> {
        self.locks.verify(skill, path, bytes)
    }

    fn verify_file(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable> {
        self.locks.verify_file(skill, path, bytes)
    }

    fn verify_tree(
        &self,
        skill: &Skill,
        tree: &HashedTree,
        skipped: &[String],
    ) -> Result<(), ResourceUnavailable> {
        self.locks.verify_tree(skill, tree, skipped)
    }

    fn fetch(&self, remote: &RemoteSkill, path: &str) -> Result<Vec<u8>, RemoteFileError> {
        verify::fetch(self.source(remote, path)?, remote.entry(), path)
    }

    fn fetch_skill_md(&self, remote: &RemoteSkill) -> Result<Vec<u8>, RemoteFileError> {
        verify::fetch_skill_md(self.source(remote, "SKILL.md")?, remote.entry())
    }
}
