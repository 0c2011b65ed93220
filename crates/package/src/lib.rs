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
//! | [`settings`] | the user's settings, changed by a program that people look at |
//! | [`agents`] | where other agents keep skills |
//! | [`connect`] | an entry for Prowess in the configuration of MCP clients |
//! | [`interchange`] | their lock, links into their folders, taking skills over from them |
//! | [`own`] | the user's own skills: made, changed, sent and deleted by a program that people look at |
//! | [`limits`] | how much is read from untrusted sources |
//! | [`source`] | what stands after `install` |
//! | [`archive`] | `.zip`, `.skill` and `.tar.gz`, read strictly into memory |
//! | [`well_known`] | sites that publish an index of skills |
//! | [`pack`] | skills to archives, and to a tree for a web server |
//!
//! What must always hold: a name from outside becomes a path only as an [`InnerPath`]; whatever is read has a bound in
//! [`limits`]; and nothing is seen at its destination before it is whole.

mod acquire;
pub mod agents;
pub mod connect;
mod error;
mod fetch;
mod install;
pub mod interchange;
pub mod own;
pub mod pack;
mod place;
pub mod plugins;
mod refusal;
pub mod settings;
pub mod source;
pub mod switch;
mod work;

pub use acquire::{Candidate, FileUrls, candidates};
pub use error::PackageError;
pub use fetch::http::{HttpError, Timeouts};
pub use fetch::{FolderTree, git, well_known};
pub use install::{
    Action, Asks, Changes, Conflict, Import, Item, Judge, Known, OnConflict, OnInvalid, Pick, Plan, Prepared,
    Request, Upload, Wanted, plan_import, plan_install, plan_remove, plan_restore, plan_update,
};
pub use place::{For, NotOwn, Place, Verification, Verified, accept, iso_time, verify};
pub use prowess_archive::{
    self as archive, Entry, EntryKind, InnerPath, MemoryFile, MemoryTree, PathError, Tree, TreeFailure,
    limits,
};
pub use prowess_audit as audit;
pub use work::{Cancelled, Work};
