//! Tests of whole sessions with a scripted model server.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, unreachable_pub)]

mod limits;
mod recordings;
mod support;
mod triggers;
mod variants;
