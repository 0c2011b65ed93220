//! The integration tests of this crate, by topic, in one binary.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod host;
mod host_errors;
mod host_session;
mod host_support;
mod server;
mod support;
