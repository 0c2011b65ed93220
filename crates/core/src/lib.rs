//! Prowess discovers agent skills, reports every problem with them, and shows a model exactly what it needs.
//!
//! ```
//! use prowess::{Policy, Registry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::open(Policy::default())?;
//! let snapshot = registry.snapshot();
//! for skill in snapshot.enabled() {
//!     println!("{}: {}", skill.name(), skill.description());
//! }
//! for skill in snapshot.all().iter().filter(|skill| !skill.is_enabled()) {
//!     println!("{} is {}: {}", skill.name(), skill.status().as_str(), skill.reason().unwrap_or_default());
//! }
//! # assert!(snapshot.get("hello-world").is_some());
//! # Ok(())
//! # }
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`policy`] | the settings in which skill systems differ, and the six presets |
//! | [`registry`] | skills with their status, in immutable snapshots |
//! | [`catalog`] | the list of skills that a model is shown |
//! | [`activation`] | loading the instructions of a skill |
//! | [`resources`] | reading the other files of a skill |
//! | [`check`] | checking skill directories, single files and whole trees |
//! | [`references`] | the files that instructions refer to |
//! | [`known_files`] | the files that a conversation is about, for skills with `paths` |
//! | [`usage`] | when and how often skills were used |
//! | [`trust`] | which projects the user trusts |
//! | [`lock`] | installed skills: their sources and file digests |
//! | [`remote`] | skills that servers provide |
//! | [`bundled`] | the skills embedded in the binary |
//!
//! The crate has no async runtime and no database. All access to skill files goes through `prowess_fs`, which
//! never leaves the directory it was given.

pub mod activation;
mod advice;
pub mod bundled;
pub mod catalog;
pub mod check;
mod discovery;
mod file_diagnostic;
mod file_listing;
mod globs;
pub mod grants;
mod host_env;
mod inline_references;
pub mod known_files;
pub mod ledger;
pub mod lock;
mod lock_file;
pub mod policy;
pub mod references;
pub mod registry;
pub mod remote;
pub mod resources;
pub mod shell;
mod skill;
mod tree_hashes;
pub mod trust;
mod trust_store;
pub mod usage;
mod user_state;
mod visit_files;

/// Helpers for untrusted text, for the other crates of this workspace. Not part of the public API.
#[doc(hidden)]
pub mod contained {
    pub use crate::resources::text::strip_escapes;

    /// Removes terminal escapes and control characters from untrusted text. Line breaks and tabs stay.
    pub fn strip_terminal_escapes(mut text: String) -> String {
        crate::resources::text::strip_escapes(&mut text, 0);
        text
    }
}

pub use discovery::{RootProblem, ScanProgress};
pub use file_diagnostic::FileDiagnostic;
pub use file_listing::{FileEntry, FileListing};
pub use globs::glob_matches;
pub use host_env::HostEnv;
pub use policy::{Policy, Preset, RootSpec, Scope};
pub use prowess_format as format;
pub use prowess_format::error_code::{self, ErrorCode};
pub use prowess_fs::{HashedFile, HashedTree, TreeHashError, digest, read_bounded, tree_hash};
pub use registry::{Registry, Skill, SkillStatus, Snapshot, SnapshotDiff, short_path};
pub use skill::{CommandDialect, DiscoveredSkill, Root, SkillKey, SkillLink};
pub use visit_files::{VisitedEntry, visit_files};
