//! Skills that come from elsewhere than a folder: a server offers them, and their files are fetched when they are needed.
//!
//! Whoever talks to the server implements [`Supply`] and hands it to the registry. Everything that keeps people safe is
//! done here, the same for every supply:
//!
//! - A skill is known by the label that the *user* gave to the server and by its URI there, in the registry, in approvals
//!   and wherever it is called by. It is called `LABEL/NAME`, so that it never takes the place of another skill.
//! - Nothing of it is used before the user approved it, and approval is bound to the digest of every file
//!   ([`approvals`]).
//! - Whatever a supply hands out is compared with the digest and the size that the skill was listed with, each time it
//!   is read, and a file that was not listed is not asked for ([`verify`]).
//! - Nothing of it is run here.

pub mod approvals;
mod error;
pub mod verify;

use std::fmt;
use std::sync::Arc;

use prowess_format::Diagnostic;
use serde_json::{Map, Value};

pub use error::{SupplyError, Unverified};

/// Somebody who has skills to offer. Calls may wait for a server, within bounds that the supply keeps.
pub trait Supply: fmt::Debug + Send + Sync {
    /// What the user calls it: lower-case letters, digits and `-`.
    fn label(&self) -> &str;

    /// What it is, for people and models: `MCP server docs`.
    fn title(&self) -> String {
        format!("MCP server {}", self.label())
    }

    /// What it offers now. The same `Arc` comes back as long as nothing changed.
    fn offering(&self) -> Arc<Offering>;

    /// The bytes of one file, as they come; the caller verifies them.
    fn read(&self, skill: &Offered, file: &OfferedFile) -> Result<Vec<u8>, SupplyError>;

    /// Bytes of this skill were not what it was listed with: it may have changed, and should be looked up again.
    fn doubt(&self, skill: &Offered) {
        let _ = skill;
    }
}

/// Everything that a supply offers at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offering {
    /// The skills, valid or not.
    pub skills: Vec<Arc<Offered>>,
    /// What is to be said about the supply as a whole.
    pub diagnostics: Vec<Diagnostic>,
}

/// One skill on offer: its entry, and nothing that had to be fetched for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Where its `SKILL.md` is, at the supply.
    pub uri: String,
    /// What it is called by: `LABEL/NAME`, with the path between the two that tells it from others.
    pub name: String,
    /// The name in its frontmatter.
    pub own_name: String,
    /// The frontmatter that it was listed with.
    pub frontmatter: Map<String, Value>,
    /// All its files, by their paths.
    pub files: Vec<OfferedFile>,
    /// Why it cannot be used at all.
    pub problem: Option<String>,
}

/// A file of a skill on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedFile {
    /// Its path below the skill's folder, with `/`.
    pub path: String,
    /// Where it is, at the supply.
    pub uri: String,
    /// `sha256:` and the digest of its bytes.
    pub digest: String,
    /// How many bytes.
    pub size: u64,
}

impl Offered {
    /// The file at a path.
    pub fn file(&self, path: &str) -> Option<&OfferedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The digest of all its files together: equal for two entries if each file has the same URI and digest in both.
    pub fn set(&self) -> String {
        let mut files: Vec<_> = self.files.iter().map(|file| (&file.uri, &file.digest)).collect();
        files.sort_unstable();
        let mut text = String::from("prowess-offered-v1\n");
        for (uri, digest) in files {
            text.push_str(&format!("{}:{uri}{digest}\n", uri.len()));
        }
        prowess_fs::digest(text.as_bytes())
    }
}

/// Where a skill of a snapshot came from, if not from this machine. Plain data: a registry keeps the [`Supply`] itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Supplied {
    pub(crate) label: String,
    pub(crate) title: String,
    pub(crate) offered: Arc<Offered>,
    pub(crate) standing: approvals::Standing,
}

impl Supplied {
    /// The user's name for where it came from.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What that is: `MCP server docs`.
    pub fn origin(&self) -> String {
        self.title.clone()
    }

    /// The entry.
    pub fn offered(&self) -> &Offered {
        &self.offered
    }

    /// What the user said about it.
    pub fn standing(&self) -> approvals::Standing {
        self.standing
    }
}
