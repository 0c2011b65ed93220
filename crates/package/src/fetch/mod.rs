//! Files from folders, archives, repositories and sites: names, kinds and sizes first, bytes on demand, nothing written.

mod folder;
pub mod git;
pub(crate) mod http;
pub mod well_known;

pub use folder::FolderTree;
