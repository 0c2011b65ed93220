//! Every integration test of this crate, by topic, in one program.

#![allow(clippy::unwrap_used)]

mod attacks_documented;
mod attacks_environment;
mod attacks_files;
mod attacks_limits;
mod attacks_network;
mod attacks_processes;
mod attacks_shared;
mod attacks_workspace;
mod environment_support;
mod environments;
mod gates;
mod named_programs;
mod registry_environments;
mod run_programs;
mod workspaces;
