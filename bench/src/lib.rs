//! Benchmarks of Prowess against a floor program and other tools, on the same trees in the same run.
//!
//! - [`prose`] and [`tree`] generate the skills;
//! - [`floor`] does the unavoidable I/O;
//! - [`measure`] runs commands alternately and measures time and memory;
//! - [`hook`] contains the event and the skill for the hook;
//! - [`empty_project`] is the project that commands install into;
//! - [`peers`] contains the calls of the other tools;
//! - [`catalog`] contains the data and helpers of the routing benchmarks;
//! - [`origin`] is the measured commit;
//! - [`suite`] and [`packages`] measure all tasks, [`targets`] compares the figures with the targets, [`report`] writes the results.

pub mod catalog;
pub mod empty_project;
pub mod floor;
pub mod hook;
pub mod measure;
pub mod origin;
pub mod packages;
pub mod peers;
pub mod prose;
pub mod report;
pub mod suite;
pub mod table;
pub mod targets;
pub mod tree;
