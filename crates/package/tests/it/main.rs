//! The integration tests of this crate, by topic, in one binary.

#![allow(clippy::panic, clippy::unwrap_used)]

mod archive_tar;
mod archive_tools;
mod archive_zip;
mod audit_documented;
mod audit_recall;
mod git_https;
mod git_local;
mod git_ssh;
mod own;
mod own_import;
mod own_killed;
mod own_world;
mod own_write;
mod settings;
