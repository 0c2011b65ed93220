//! The benchmark of Prowess: the same trees, the same minutes, a floor program and the peers beside it.
//!
//! - [`prose`] and [`tree`] make the skills;
//! - [`floor`] is the I/O that nobody can avoid;
//! - [`measure`] runs commands in turns and takes time and memory;
//! - [`fresh`] is what commands install into;
//! - [`peers`] knows how each peer is called;
//! - [`catalog`] is what routing is measured on;
//! - [`origin`] says which commit was measured;
//! - [`suite`] and [`packages`] measure everything, [`judge`] compares it with the targets, [`report`] writes it down.

pub mod catalog;
pub mod floor;
pub mod fresh;
pub mod judge;
pub mod measure;
pub mod origin;
pub mod packages;
pub mod peers;
pub mod prose;
pub mod report;
pub mod suite;
pub mod table;
pub mod tree;
