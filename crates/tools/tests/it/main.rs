//! All integration tests of this crate, by topic, in one binary.

#![allow(clippy::panic, clippy::unwrap_used)]

mod conformance;
mod definitions;
mod envelope;
mod errors;
mod presets;
mod prompt_large;
mod sessions;
mod support;
mod toolsets;
