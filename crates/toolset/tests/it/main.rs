//! Every integration test of this crate, by topic, in one program.

#![allow(clippy::unwrap_used)]

mod program_attacks;
mod program_documented;
mod program_faults;
mod program_gates;
mod program_protocol;
mod program_support;
mod toolset_attacks;
mod toolset_document_003;
mod toolset_documented;
mod toolset_loading;
mod toolset_support;
