//! All integration tests of this crate, by topic, in one binary.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used, unreachable_pub)]

mod chats;
mod conformance;
mod consent;
mod failures;
mod files;
mod guard;
mod limits;
mod model_setup;
mod multiple_servers;
mod openapi;
mod operations;
mod render;
mod running_server;
mod skill_server;
mod skills;
mod skills_editor;
mod skills_import;
mod skills_install;
mod skills_views;
mod streams;
mod support;
mod test_reports;
mod thinking;
mod versions;
