//! Registers Prowess in the configuration of other agents: as an MCP server, and as a prompt hook.
//!
//! | module | subject |
//! |---|---|
//! | [`clients`] | the supported clients and their files |
//! | `client_env` | home directory, system and variables |
//! | [`server`] | the server to register: a program to start, or a running server |
//! | `entry_format` | the entry in the format of each client |
//! | [`plan`] | plans the change of an entry |
//! | `plugin_servers` | servers of plugins that the user adds to a client |
//! | [`hooks`] | prompt hooks: the clients that have them, and how they are registered |
//! | `change` | the change of a file, and performing it |
//! | `status` | which clients are installed and which are connected |
//! | `diff` | the lines that change |
//!
//! Invariants: a file that cannot be parsed is not changed; only the one entry changes; an entry of another origin is
//! replaced only if the caller allows it; only the name of the variable that contains a secret is written, never the
//! secret.

mod change;
mod client_env;
pub mod clients;
mod diff;
mod entry_format;
mod error;
pub mod hooks;
pub mod plan;
mod plugin_servers;
pub mod server;
mod status;

#[cfg(test)]
mod tests;

pub use crate::client_path::TargetOs;
pub use change::{ConnectAction, FileChange};
pub use client_env::ClientEnv;
pub use clients::{CLIENTS, Client, find_client};
pub use diff::{ConfigDiff, DiffLine};
pub use entry_format::snippet;
pub use error::ConnectError;
pub use plan::{ConnectPlan, plan_install, plan_uninstall};
pub use plugin_servers::{
    PluginServerError, PluginServerPlan, ServerRecord, forget_servers, plan_plugin_removal,
    plan_plugin_server, record_servers, servers_of_plugin,
};
pub use server::{ServerName, ServerSpec, TokenVariable};
pub use status::{ClientTrace, ConnectionStatus, connection_status, find_trace};
