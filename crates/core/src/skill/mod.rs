//! A skill: its location, its manifest and its status. All of that is plain data.
//!
//! Trust, lock files and remote servers are services that a registry passes in as one [`Verify`].
//! Each skill carries a handle to it, so that no code can read its files without verification.

mod content_cache;
mod discovered;
mod key;
mod root;
mod status;
mod unavailable;

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

pub(crate) use content_cache::{ContentCache, FilePaths};
pub use discovered::{DiscoveredSkill, SkillLink};
pub(crate) use discovered::{FileName, SKILL_MD_MAX, command_name};
pub use key::SkillKey;
pub use root::{CommandDialect, Root};
pub use status::{DisabledReason, ModifiedReason, ShadowedBy, SkillStatus, UntrustedReason};
pub use unavailable::ResourceUnavailable;
pub(crate) use unavailable::{display_name, display_text};

use crate::lock_file::LockEntry;
use crate::remote::{RemoteFileError, RemoteSkill};
use prowess_fs::HashedTree;

/// Decides whether bytes that were read may be used. Every read of a skill's files goes through it.
pub(crate) trait Verify: Debug + Send + Sync {
    /// Returns the directory of the project.
    fn project_dir(&self) -> &Path;

    /// Returns the lock file's entry for an installed skill.
    fn lock_entry(&self, skill: &Skill) -> Option<LockEntry>;

    /// Verifies that a skill is trusted and matches the lock file, and that its file at `path` has these bytes.
    fn verify(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable>;

    /// Verifies that a skill is trusted, and one of its files against the lock file.
    fn verify_file(&self, skill: &Skill, path: &str, bytes: &[u8]) -> Result<(), ResourceUnavailable>;

    /// Verifies that a skill is trusted and matches the lock file. `tree` has all its files, which are not read again, so
    /// that the verified bytes are the ones that are used.
    fn verify_tree(
        &self,
        skill: &Skill,
        tree: &HashedTree,
        skipped: &[String],
    ) -> Result<(), ResourceUnavailable>;

    /// Fetches a file from the skill's server and verifies its size and digest.
    fn fetch(&self, remote: &RemoteSkill, path: &str) -> Result<Vec<u8>, RemoteFileError>;

    /// Fetches `SKILL.md` from the skill's server and verifies its frontmatter, too.
    fn fetch_skill_md(&self, remote: &RemoteSkill) -> Result<Vec<u8>, RemoteFileError>;
}

/// A discovered skill and its status.
#[derive(Debug, Clone)]
pub struct Skill {
    pub(crate) key: SkillKey,
    pub(crate) discovered: Arc<DiscoveredSkill>,
    pub(crate) status: SkillStatus,
    /// Passed in by the registry; not part of the skill's identity.
    pub(crate) verifier: Arc<dyn Verify>,
}

/// Two skills are equal if their data is; which registry verifies their files makes no difference.
impl PartialEq for Skill {
    fn eq(&self, other: &Self) -> bool {
        self.discovered == other.discovered && self.status == other.status
    }
}

impl Deref for Skill {
    type Target = DiscoveredSkill;

    fn deref(&self) -> &DiscoveredSkill {
        &self.discovered
    }
}

impl Skill {
    /// Returns what the skill is called in its registry.
    pub fn key(&self) -> &SkillKey {
        &self.key
    }

    /// Returns the skill's status.
    pub fn status(&self) -> &SkillStatus {
        &self.status
    }

    /// Returns the lock file's entry; `None` if the skill was not installed or the lock file cannot be read.
    pub fn lock_entry(&self) -> Option<LockEntry> {
        self.verifier.lock_entry(self)
    }

    /// Fetches and verifies a file of a remote skill, so that the user can decide whether to approve it. `None`
    /// for a local skill. Does not activate anything.
    pub fn fetch_for_review(&self, path: &str) -> Option<Result<Vec<u8>, RemoteFileError>> {
        let remote = self.remote()?;
        Some(match path {
            "SKILL.md" => self.verifier.fetch_skill_md(remote),
            path => self.verifier.fetch(remote, path),
        })
    }

    /// Returns `true` if the skill is available: to users, and to models unless it is manual.
    pub fn is_enabled(&self) -> bool {
        self.status == SkillStatus::Enabled
    }

    /// Returns the frontmatter's name, or the directory's name if the skill cannot be loaded. Remote skills
    /// have the label of their server as a prefix: `docs/pdf`.
    pub fn name(&self) -> Cow<'_, str> {
        self.resolved_name().map_or_else(|| self.id(), Cow::from)
    }

    /// Returns the description; empty if the skill cannot be loaded.
    pub fn description(&self) -> &str {
        self.manifest().map_or("", |manifest| manifest.description())
    }

    /// Returns the description with `when_to_use`, as models see it; empty if the skill cannot be loaded.
    pub fn full_description(&self) -> Cow<'_, str> {
        self.manifest().map_or(Cow::Borrowed(""), |manifest| manifest.full_description())
    }
}
