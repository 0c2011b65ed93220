//! Getting skills from anywhere, keeping them, and checking that they are still what they were.
//!
//! ```text
//! SOURCE ─ source ─► where it is      git · folder · archive · a site's index
//!        ─ acquire ─► Tree            its files, nothing of them written yet
//!        ─ stage ──► Staged           written beside the destination, parsed, audited, hashed
//!        ─ swap ───► installed        one rename; the lock says what and from where
//! ```
//!
//! What must always hold: a name from outside becomes a path only as an [`InnerPath`]; whatever is read has a bound in
//! [`limits`]; and nothing is seen at its destination before it is whole.

pub mod archive;
pub mod audit;
pub mod edit;
mod folder;
pub mod git;
mod http;
mod inner_path;
pub mod limits;
mod memory_tree;
pub mod source;
mod tree;
mod work;

pub use folder::FolderTree;
pub use http::{HttpError, Timeouts};
pub use inner_path::{InnerPath, PathError};
pub use memory_tree::{MemoryFile, MemoryTree};
pub use tree::{Entry, EntryKind, Tree, TreeFailure};
pub use work::{Cancelled, Work};
