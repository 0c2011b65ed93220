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
mod settings;
mod user_skills;
mod user_skills_import;
mod user_skills_killed;
mod user_skills_rename;
mod user_skills_support;
mod user_skills_write;
