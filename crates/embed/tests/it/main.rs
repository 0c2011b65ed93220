//! Every integration test of this crate, by topic, in one program.

#![allow(clippy::unwrap_used)]

mod endpoint;
