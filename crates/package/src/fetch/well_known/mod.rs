//! Skills that a site publishes: `/.well-known/agent-skills/index.json`, versions 0.2.0 and 0.1.0.
//!
//! | module | subject |
//! |---|---|
//! | `parse` | the index, entry by entry |
//! | `get` | an entry's bytes, checked, as a tree |
//!
//! What must always hold: only `https` is fetched, within bounds; what has a digest is used only if its raw bytes have
//! it; and one bad entry does not take the others with it, but is reported.
//!
//! An index of version 0.2.0 may point to another host, as the format allows: the index's own digest binds what comes
//! from there, so nobody there can change it. Hosts that are numbers or `localhost` are refused unless the index is
//! there, too: an index from outside must not make this machine ask inside. Version 0.1.0 has no digests and never
//! leaves the folder of its index. Whoever asks the user shows [`IndexEntry::elsewhere`].

mod error;
mod get;
mod parse;

use prowess::ErrorCode;
use prowess_format::SkillName;
use url::Url;

use prowess_archive::InnerPath;

pub use error::{EntryError, WellKnownError};

/// The most bytes of an index.
pub const INDEX_MAX: u64 = 4 * 1024 * 1024;

/// The most skills of an index.
pub const SKILLS_MAX: usize = 10_000;

/// What identifies version 0.2.0.
pub const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// Where a site keeps its index, the newer place first.
pub const PLACES: [&str; 2] = [".well-known/agent-skills/index.json", ".well-known/skills/index.json"];

/// Whether an address is that of an index, not of a site.
pub(crate) fn is_index(url: &Url) -> bool {
    let before = |place| url.path().strip_suffix(place);
    PLACES.into_iter().filter_map(before).any(|before| before.ends_with('/'))
}

/// Gets bytes from `https` addresses.
pub trait Fetch {
    /// All bytes at an address. More than `max` is a failure, not a shorter answer.
    fn get(&self, url: &Url, max: u64) -> Result<Vec<u8>, FetchFailure>;
}

/// Why nothing came. A server that says that there is nothing has the code [`ErrorCode::NotFound`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FetchFailure {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The skills of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Where it is.
    pub url: Url,
    /// The skills, in the site's order.
    pub entries: Vec<IndexEntry>,
    /// What the site lists and nobody can use, with the reason.
    pub skipped: Vec<Skipped>,
}

/// One skill of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// Its name.
    pub name: SkillName,
    /// What it says of itself, with hidden characters made visible.
    pub description: String,
    /// How to get it.
    pub artifact: Artifact,
}

/// How a skill is to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Artifact {
    /// One `SKILL.md`.
    SkillMd {
        /// Where.
        url: Url,
        /// `sha256:` and 64 digits.
        digest: String,
    },
    /// An archive of the skill's folder.
    Archive {
        /// Where.
        url: Url,
        /// `sha256:` and 64 digits.
        digest: String,
    },
    /// File by file, and nothing to check them against: version 0.1.0.
    Files(Vec<(InnerPath, Url)>),
}

/// An entry that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The name, as far as there is one.
    pub name: String,
    /// Why.
    pub why: EntryError,
}

impl Index {
    /// The skill of a name.
    pub fn get(&self, name: &str) -> Option<&IndexEntry> {
        self.entries.iter().find(|entry| entry.name.as_str() == name)
    }
}

impl IndexEntry {
    /// The host it comes from, if that is not the index's own.
    pub fn elsewhere(&self, index: &Index) -> Option<&str> {
        match &self.artifact {
            Artifact::SkillMd { url, .. } | Artifact::Archive { url, .. } => {
                url.host_str().filter(|_| url.origin() != index.url.origin())
            }
            Artifact::Files(_) => None,
        }
    }

    /// What its bytes must have, where the index says so.
    pub fn digest(&self) -> Option<&str> {
        match &self.artifact {
            Artifact::SkillMd { digest, .. } | Artifact::Archive { digest, .. } => Some(digest),
            Artifact::Files(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
