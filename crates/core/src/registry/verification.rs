//! The verifier that a registry passes to its skills: trust, lock files and remote sources.

use std::path::Path;
use std::sync::Arc;

use crate::host_env::HostEnv;
use crate::lock::{LockEntry, LockIndex};
use crate::remote::approvals::{ApprovalStatus, Approvals};
use crate::remote::{FetchError, RemoteFileError, RemoteSkill, RemoteSource, verify};
use crate::skill::{ResourceUnavailable, Skill, Verify, display_name, display_text};
use crate::trust_store::TrustCheck;
use prowess_fs::{HashedTree, digest};

/// Verifies the files of all skills of one scan.
#[derive(Debug)]
pub(super) struct RegistryVerifier {
    host: HostEnv,
    trust: TrustCheck,
    locks: LockIndex,
    sources: Vec<Arc<dyn RemoteSource>>,
}

impl RegistryVerifier {
    pub(super) fn new(
        host: &HostEnv,
        trust: TrustCheck,
        locks: LockIndex,
        sources: &[Arc<dyn RemoteSource>],
    ) -> Self {
        Self { host: host.clone(), trust, locks, sources: sources.to_vec() }
    }

    /// Verifies that a skill is still trusted or approved. If trust is pinned to the files of the skill, also verifies
    /// that its file at `path` has these bytes.
    fn verify_trust(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable> {
        let is_trusted = match skill.remote() {
            Some(remote) => {
                let approval = Approvals::load(&self.host).status(remote.label(), remote.entry());
                matches!(approval, ApprovalStatus::Approved(_))
            }
            None if skill.is_command() => self
                .trust
                .may_read(skill, || Some(HashedTree::from_file(&skill.skill_md_path(), bytes).hash())),
            None => self.trust.may_read(skill, || {
                let tree = HashedTree::from_resolved_dir(&skill.canonical_dir()).ok()?;
                let is_used = tree.file(path).is_some_and(|file| file.digest() == digest(bytes));
                is_used.then(|| tree.hash())
            }),
        };
        require_trust(is_trusted, skill)
    }

    /// Returns the source of a remote skill. Labels identify sources, also in approvals.
    fn source(&self, remote: &RemoteSkill, path: &str) -> Result<&dyn RemoteSource, RemoteFileError> {
        let configured = self.sources.iter().find(|source| source.label() == remote.label());
        configured.map(|source| &**source).ok_or_else(|| RemoteFileError::Fetch {
            name: display_text(&remote.entry().name),
            path: display_text(path),
            origin: remote.origin(),
            error: FetchError::Unreachable("not configured".to_owned()),
        })
    }
}

impl Verify for RegistryVerifier {
    fn project_dir(&self) -> &Path {
        &self.host.project
    }

    fn lock_entry(&self, skill: &Skill) -> Option<LockEntry> {
        self.locks.lock_entry(skill)
    }

    fn verify(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable> {
        self.verify_trust(skill, path, bytes)?;
        self.locks.verify(skill, path, bytes)
    }

    fn verify_file(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable> {
        self.verify_trust(skill, path, bytes)?;
        self.locks.verify_file(skill, path, bytes)
    }

    fn verify_tree(
        &self,
        skill: &Skill,
        tree: &HashedTree,
        skipped: &[String],
    ) -> Result<(), ResourceUnavailable> {
        let may_run = self.trust.may_run(skill, || skipped.is_empty().then(|| tree.hash()));
        require_trust(may_run, skill)?;
        self.locks.verify_tree(skill, tree, skipped)
    }

    fn fetch(&self, remote: &RemoteSkill, path: &str) -> Result<Vec<u8>, RemoteFileError> {
        verify::fetch(self.source(remote, path)?, remote.entry(), path)
    }

    fn fetch_skill_md(&self, remote: &RemoteSkill) -> Result<Vec<u8>, RemoteFileError> {
        verify::fetch_skill_md(self.source(remote, "SKILL.md")?, remote.entry())
    }
}

fn require_trust(is_trusted: bool, skill: &Skill) -> Result<(), ResourceUnavailable> {
    match is_trusted {
        true => Ok(()),
        false => Err(ResourceUnavailable::Untrusted {
            name: display_name(skill),
            reason: "it is not trusted any more",
        }),
    }
}
