//! All integration tests of this crate, by topic, in one binary.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used, unreachable_pub)]

mod chats;
mod conformance;
mod failures;
mod guard;
mod limits;
mod openapi;
mod operate;
mod render;
mod running;
mod several;
mod site;
mod skills;
mod skills_asked;
mod skills_import;
mod streams;
mod support;
