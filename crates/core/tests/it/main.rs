//! All integration tests of this crate, by topic, in one binary.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod activation;
mod allocations;
mod bad_input;
mod custom_commands;
mod disclosure;
mod fake_server;
mod ledger;
mod lock_file;
mod permissions;
mod preset_app;
mod preset_chat;
mod preset_harness;
mod preset_skill_tool;
mod preset_triggers;
mod properties;
mod read_file;
mod refresh;
mod remote_sources;
mod resources;
mod scan_cache;
mod standard;
mod symlink_races;
mod symlinks;
mod trust;
mod trust_state;
