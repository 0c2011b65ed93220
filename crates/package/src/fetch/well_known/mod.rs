//! Skills that a site publishes at `/.well-known/agent-skills/index.json`, versions 0.2.0 and 0.1.0.
//!
//! | module | subject |
//! |---|---|
//! | `parse` | parses the index |
//! | `fetch` | fetches and verifies a skill |
//!
//! Invariants: only `https` URLs are fetched, with limits; data with a digest is used only if its bytes match; an
//! invalid entry is reported and does not affect the others.
//!
//! An index of version 0.2.0 may refer to another host, as the format allows: the digest in the index protects the
//! data. IP addresses and `localhost` are rejected unless the index has the same host, so that an external index
//! cannot cause requests to the internal network. Version 0.1.0 has no digests; its files are below the directory
//! of the index.

mod error;
mod fetch;
mod parse;

use prowess::ErrorCode;
use prowess_format::SkillName;
use url::Url;

use prowess_archive::InnerPath;

pub use error::{IndexEntryError, WellKnownError};

/// The maximum size of an index in bytes.
pub const INDEX_MAX: u64 = 4 * 1024 * 1024;

/// The maximum number of skills in an index.
pub const SKILLS_MAX: usize = 10_000;

/// The schema of version 0.2.0.
pub const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// The paths of the index on a site; the newer one first.
pub const INDEX_PATHS: [&str; 2] = [".well-known/agent-skills/index.json", ".well-known/skills/index.json"];

/// Returns `true` if a URL refers to an index, not to a site.
pub(crate) fn is_index_url(url: &Url) -> bool {
    let base = |path| url.path().strip_suffix(path);
    INDEX_PATHS.into_iter().filter_map(base).any(|base| base.ends_with('/'))
}

/// Fetches `https` URLs.
pub trait Fetcher {
    /// Returns all bytes at a URL. Fails if there are more than `max`.
    fn get(&self, url: &Url, max: u64) -> Result<Vec<u8>, FetchUrlError>;
}

/// The reason why a URL could not be fetched. A missing file has the code [`ErrorCode::NotFound`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FetchUrlError {
    /// The error code.
    pub code: ErrorCode,
    /// The message.
    pub message: String,
    /// A hint for the user.
    pub hint: Option<String>,
}

/// The index of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillIndex {
    /// The URL of the index.
    pub url: Url,
    /// The skills, in the order of the site.
    pub entries: Vec<IndexEntry>,
    /// Invalid entries.
    pub skipped: Vec<SkippedEntry>,
}

/// A skill in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// The name.
    pub name: SkillName,
    /// The description, with hidden characters escaped.
    pub description: String,
    /// The files.
    pub artifact: IndexArtifact,
}

/// The files of a skill in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexArtifact {
    /// One `SKILL.md`.
    SkillMd {
        /// The URL.
        url: Url,
        /// `sha256:` and 64 digits.
        digest: String,
    },
    /// An archive of the skill's directory.
    Archive {
        /// The URL.
        url: Url,
        /// `sha256:` and 64 digits.
        digest: String,
    },
    /// Individual files without digests (version 0.1.0).
    Files(Vec<(InnerPath, Url)>),
}

/// An invalid entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedEntry {
    /// The name, if there is one.
    pub name: String,
    /// The reason.
    pub reason: IndexEntryError,
}

impl SkillIndex {
    /// Returns the skill with this name.
    pub fn get(&self, name: &str) -> Option<&IndexEntry> {
        self.entries.iter().find(|entry| entry.name.as_str() == name)
    }
}

impl IndexEntry {
    /// Returns the digest in the index, if there is one.
    pub fn digest(&self) -> Option<&str> {
        match &self.artifact {
            IndexArtifact::SkillMd { digest, .. } | IndexArtifact::Archive { digest, .. } => Some(digest),
            IndexArtifact::Files(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
