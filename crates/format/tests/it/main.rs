//! Every integration test of this crate, by topic, in one program.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod dependencies_documented;
mod diagnostics_documented;
