//! Source trees from directories, archives, repositories and sites: paths, kinds and sizes first, contents on demand.

mod dir_tree;
pub mod git;
pub(crate) mod http;
pub mod well_known;

pub use dir_tree::DirTree;
