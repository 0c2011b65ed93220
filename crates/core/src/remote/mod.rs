//! Skills that are not in a local directory: a server lists them, and their files are fetched when they are
//! needed.
//!
//! A client of a server implements [`RemoteSource`] and passes it to the registry. All safety checks are done
//! here, the same for every source:
//!
//! - A skill is identified by the label that the *user* gave to the server and by its URI there. Its name is
//!   `LABEL/NAME`, so it never shadows another skill.
//! - Nothing of it is used before the user approved it. An approval is bound to the digest of every file
//!   ([`approvals`]).
//! - Every file is compared with the digest and the size that the skill was listed with, each time it is read.
//!   Files that were not listed are not requested ([`verify`]).
//! - Nothing of it is executed.

pub mod approvals;
mod error;
pub mod verify;

use std::fmt;
use std::sync::Arc;

use prowess_format::Diagnostic;
use serde_json::{Map, Value};

pub use error::{FetchError, RemoteFileError};

/// A source of remote skills. Calls may block while they wait for a server; the source enforces its own time
/// limits.
pub trait RemoteSource: fmt::Debug + Send + Sync {
    /// Returns the user's label for the source: lower-case letters, digits and `-`.
    fn label(&self) -> &str;

    /// Returns a title for people and models: `MCP server docs`.
    fn title(&self) -> String {
        format!("MCP server {}", self.label())
    }

    /// Returns the current skills. Returns the same `Arc` as long as nothing changed.
    fn listing(&self) -> Arc<RemoteListing>;

    /// Fetches the bytes of one file. The caller verifies them.
    fn read_file(&self, skill: &RemoteEntry, file: &RemoteFile) -> Result<Vec<u8>, FetchError>;

    /// Fetches the entry of a skill again, because a file did not match it.
    fn refresh_entry(&self, skill: &RemoteEntry) {
        let _ = skill;
    }
}

/// The skills that a source lists at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RemoteListing {
    /// The skills, valid or not.
    pub skills: Vec<Arc<RemoteEntry>>,
    /// Problems with the source as a whole.
    pub diagnostics: Vec<Diagnostic>,
}

/// A listed skill: its metadata, without any fetched file.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteEntry {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// Its name, `LABEL/NAME`, with a path in between if names would collide otherwise.
    pub name: String,
    /// The name in its frontmatter.
    pub frontmatter_name: String,
    /// The listed frontmatter.
    pub frontmatter: Map<String, Value>,
    /// All its files.
    pub files: Vec<RemoteFile>,
    /// Why the skill cannot be used at all.
    pub problem: Option<String>,
}

/// A file of a listed skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its path relative to the skill's directory, with `/`.
    pub path: String,
    /// Its URI.
    pub uri: String,
    /// The digest of its bytes, with the prefix `sha256:`.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
}

impl RemoteEntry {
    /// Returns the file at a path.
    pub fn file(&self, path: &str) -> Option<&RemoteFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns a digest of the URIs and digests of all files. Equal for two entries with the same files.
    pub fn files_digest(&self) -> String {
        let mut files: Vec<_> = self.files.iter().map(|file| (&file.uri, &file.digest)).collect();
        files.sort_unstable();
        let mut text = String::from("prowess-offered-v1\n");
        for (uri, digest) in files {
            text.push_str(&format!("{}:{uri}{digest}\n", uri.len()));
        }
        prowess_fs::digest(text.as_bytes())
    }
}

/// The origin of a remote skill in a snapshot. Plain data: the registry keeps the [`RemoteSource`] itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteSkill {
    pub(crate) label: String,
    pub(crate) title: String,
    pub(crate) entry: Arc<RemoteEntry>,
    pub(crate) approval: approvals::ApprovalStatus,
}

impl RemoteSkill {
    /// Returns the user's label for the source.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the title of the source: `MCP server docs`.
    pub fn origin(&self) -> String {
        self.title.clone()
    }

    /// Returns the listed entry.
    pub fn entry(&self) -> &RemoteEntry {
        &self.entry
    }

    /// Returns whether the user approved the skill.
    pub fn approval(&self) -> approvals::ApprovalStatus {
        self.approval
    }
}
