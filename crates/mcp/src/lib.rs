//! Agent skills over the Model Context Protocol.
pub mod extension;
#[cfg(feature = "host")]
pub mod host;
#[cfg(feature = "http")]
pub mod http;
mod malformed;
mod manifest;
mod owner;
mod page;
mod server;
pub mod stdio;
pub mod uri;
mod workspace_uri;

pub use server::{Connection, ExternalWatcher, McpServer, McpServerOptions};
