//! Registers Prowess in the configuration of MCP clients.
//!
//! | module | subject |
//! |---|---|
//! | [`clients`] | the supported clients and their files |
//! | `client_env` | home directory, system and variables |
//! | [`server`] | the server to register: a program to start, or a running server |
//! | `entry_format` | the entry in the format of each client |
//! | [`plan`] | plans and performs the change of a file |
//! | `status` | which clients are installed and which are connected |
//! | `diff` | the lines that change |
//!
//! Invariants: a file that cannot be parsed is not changed; only the one entry changes; an entry of another origin is
//! replaced only if the caller allows it; only the name of the variable that contains a secret is written, never the
//! secret.

mod client_env;
pub mod clients;
mod diff;
mod entry_format;
mod error;
pub mod plan;
pub mod server;
mod status;

#[cfg(test)]
mod tests;

pub use client_env::{ClientEnv, TargetOs};
pub use clients::{CLIENTS, Client, find_client};
pub use diff::{ConfigDiff, DiffLine};
pub use entry_format::snippet;
pub use error::ConnectError;
pub use plan::{ConnectAction, ConnectPlan, plan_install, plan_uninstall};
pub use server::{ServerName, ServerSpec, TokenVariable};
pub use status::{ClientTrace, ConnectionStatus, connection_status, find_trace};
