//! Prowess finds agent skills, explains every problem with them, and shows a model exactly what it needs.
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
//! | [`policy`] | everything in which skills systems differ, and the six presets |
//! | [`registry`] | roots to skills with a status, in immutable snapshots |
//! | [`check`] | judging skill folders, files and trees of them |
//! | [`usage`] | when skills were last used |
//! | [`trust`] | whom the user trusts |
//! | [`lock`] | what was installed, from where, and with which bytes |
//! | [`supply`] | skills that come from servers |
//! | [`bundled`] | the skills that come along |
//!
//! There is no async runtime here and no database. The only door to the file system is one contained type.

pub mod activate;
mod advice;
pub mod bundled;
pub mod check;
mod contents;
pub mod disclose;
mod each_file;
pub mod grants;
pub mod ledger;
mod located;
pub mod lock;
mod lock_file;
pub mod policy;
mod references;
pub mod registry;
pub mod resource;
mod scan;
pub mod shell;
mod skill;
pub mod supply;
mod surroundings;
pub mod trust;
mod trust_store;
pub mod usage;
mod user_state;

/// Text from elsewhere, for the other crates of this workspace; not a promise to anybody else.
#[doc(hidden)]
pub mod contained {
    pub use crate::resource::text::strip_escapes;

    /// Foreign text without terminal escapes and control characters; line breaks and tabs stay.
    pub fn without_escapes(mut text: String) -> String {
        crate::resource::text::strip_escapes(&mut text, 0);
        text
    }
}

pub use contents::{Contents, FileEntry};
pub use each_file::{Each, each_file};
pub use located::Located;
pub use policy::{Policy, Preset, RootSpec, Scope};
pub use prowess_format as format;
pub use prowess_format::error_code::{self, ErrorCode};
pub use prowess_fs::{HashedFile, HashedTree, TreeError, digest, read_bounded, tree_hash};
pub use registry::{Difference, Registry, Skill, Snapshot, Status, short_path};
pub use scan::{Progress, RootProblem};
pub use skill::{Found, Link, Root};
pub use surroundings::Surroundings;
