//! Integration tests over the protocol, by topic, in one binary.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy does not see test helpers as tests"
)]

mod actions;
mod completion;
mod diagnostics;
mod hover;
mod lens;
mod lifecycle;
mod navigation;
mod support;
mod workspace;
