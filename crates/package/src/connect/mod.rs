//! Connecting MCP clients: an entry for Prowess in the configuration of each.
//!
//! | module | subject |
//! |---|---|
//! | [`clients`] | who they are and where they keep what, as one table |
//! | `machine` | whose home, which system, which variables |
//! | [`server`] | what is connected: a program to start, or a running server |
//! | `shape` | how each client writes that down |
//! | [`plan`] | what would change in a file; then changing it |
//! | `status` | which clients are here, and which are connected |
//! | `difference` | the lines that change |
//!
//! What must always hold: a file that cannot be read is left as it is; nothing in it changes but the one entry; an
//! entry that somebody else wrote is replaced only when the caller says so; no secret is written, only the name of the
//! variable that holds it.

pub mod clients;
mod difference;
mod error;
mod machine;
pub mod plan;
pub mod server;
mod shape;
mod status;

#[cfg(test)]
mod tests;

pub use clients::{CLIENTS, Client, client};
pub use difference::{Difference, Line};
pub use error::ConnectError;
pub use machine::{Machine, Os};
pub use plan::{Action, Plan, plan_install, plan_uninstall};
pub use server::{Name, Server, Token};
pub use shape::snippet;
pub use status::{Connection, Trace, connection, trace};
