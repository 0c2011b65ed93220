//! Files from folders, archives, repositories and sites: names, kinds and sizes first, bytes on demand, nothing written.

pub mod archive;
mod folder;
pub mod git;
pub(crate) mod http;
mod memory_tree;
pub(crate) mod tree;
pub mod well_known;

pub use folder::FolderTree;
pub use memory_tree::{MemoryFile, MemoryTree};
pub use tree::{Entry, EntryKind, Tree, TreeFailure};
