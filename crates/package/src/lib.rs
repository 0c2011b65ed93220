//! Getting skills from anywhere, keeping them, and checking that they are still what they were.
//!
//! ```text
//! SOURCE ─ source ─► where it is      git · folder · archive · a site's index
//!        ─ acquire ─► Tree            its files, nothing of them written yet
//!        ─ stage ──► Staged           written beside the destination, parsed, audited, hashed
//!        ─ swap ───► installed        one rename; the lock says what and from where
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`switch`] | skills and sources on and off |
//! | [`plugins`] | what document 002's configuration tracks |
//! | [`edit`] | changing one list of a configuration file and nothing else |
//! | [`agents`] | where other agents keep skills |
//! | [`interchange`] | their lock, links into their folders, taking skills over from them |
//! | [`limits`] | how much is taken from strangers |
//! | [`source`] | what stands after `install` |
//! | [`archive`] | `.zip`, `.skill` and `.tar.gz`, read strictly into memory |
//! | [`well_known`] | sites that publish an index of skills |
//! | [`pack`] | skills to archives, and to a tree for a web server |
//!
//! What must always hold: a name from outside becomes a path only as an [`InnerPath`]; whatever is read has a bound in
//! [`limits`]; and nothing is seen at its destination before it is whole.

mod acquire;
pub mod agents;
pub mod archive;
pub mod audit;
mod candidate;
mod clock;
mod commit;
pub mod edit;
mod error;
mod folder;
pub mod git;
mod group;
mod guard;
mod http;
mod inner_path;
mod install;
pub mod interchange;
pub mod limits;
mod memory_tree;
pub mod pack;
mod place;
mod plan;
pub mod plugins;
mod prepare;
mod remove;
mod rename;
mod replace;
mod restore;
mod site;
pub mod source;
mod stage;
pub mod switch;
mod track;
mod tree;
mod update;
mod verify;
pub mod well_known;
mod work;

#[cfg(test)]
#[path = "../tests/servers/mod.rs"]
mod servers;

pub use acquire::FileUrls;
pub use candidate::{Candidate, candidates};
pub use error::PackageError;
pub use folder::FolderTree;
pub use http::{HttpError, Timeouts};
pub use inner_path::{InnerPath, PathError};
pub use install::{Asks, Conflict, OnConflict, Pick, Request, plan_install};
pub use memory_tree::{MemoryFile, MemoryTree};
pub use place::{For, Place};
pub use plan::{Action, Changes, Item, Plan};
pub use prepare::Prepared;
pub use remove::plan_remove;
pub use restore::plan_restore;
pub use tree::{Entry, EntryKind, Tree, TreeFailure};
pub use update::plan_update;
pub use verify::{Verification, Verified, accept, verify};
pub use work::{Cancelled, Work};
