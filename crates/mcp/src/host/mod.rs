//! Prowess as a host: uses skills of other MCP servers that have the skills extension.
//!
//! | module | subject |
//! |---|---|
//! | `uri`, `entry` | parse and validate the entries of a listing (pure) |
//! | `process`, `http`, `transport` | start a server or connect over HTTP, with limits |
//! | `client` | calls with timeouts |
//! | `listing` | fetches all pages of a listing |
//! | `cache` | listings and files on disk |
//! | `blocking` | runs async calls for synchronous callers |
//! | `server` | the state of one server |
//! | `source` | one server as a [`RemoteSource`] of the registry |
//!
//! Invariants: a server is identified by the label that the user chose; nothing is fetched before it is needed; a
//! server that hangs, crashes, floods or lies only affects its own skills. The core verifies at each read that the
//! contents match the listing.

mod blocking;
mod cache;
mod client;
mod entry;
mod http;
mod listing;
mod process;
mod server;
mod source;
mod transport;
mod uri;

use std::ffi::OsString;
use std::sync::Arc;

use prowess::HostEnv;
use prowess::remote::RemoteSource;
use prowess_config::McpSource;

pub use cache::{prune_caches, remove_cache};
pub use source::{McpRemoteSource, ServerReport};

/// The maximum size of a message from a server in bytes. A file of 16 MiB fits, however it is escaped.
pub(crate) const MESSAGE_MAX: usize = 100 * 1024 * 1024;

/// The configured servers. No server is started or contacted yet.
#[derive(Debug, Default)]
pub struct McpRemoteSources {
    all: Vec<Arc<McpRemoteSource>>,
}

impl McpRemoteSources {
    /// Creates the enabled servers. `environment` contains the variables for their processes and tokens.
    pub fn new(
        sources: &[McpSource],
        host: &HostEnv,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        if !sources.iter().any(|source| source.enabled) {
            return Self::default();
        }
        let environment: Arc<[(OsString, OsString)]> = environment.into_iter().collect();
        let runtime = Arc::new(blocking::BlockingRuntime::default());
        let enabled = sources.iter().filter(|source| source.enabled);
        let all = enabled
            .map(|source| {
                Arc::new(McpRemoteSource::new(
                    source.clone(),
                    host.clone(),
                    Arc::clone(&environment),
                    Arc::clone(&runtime),
                ))
            })
            .collect();
        Self { all }
    }

    /// Returns all servers.
    pub fn all(&self) -> &[Arc<McpRemoteSource>] {
        &self.all
    }

    /// Returns the server with this label.
    pub fn get(&self, label: &str) -> Option<&Arc<McpRemoteSource>> {
        self.all.iter().find(|source| source.label() == label)
    }

    /// Returns the remote sources for a registry. Starts listing all servers in parallel.
    pub fn remote_sources(&self) -> Vec<Arc<dyn RemoteSource>> {
        self.all.iter().for_each(|source| source.prefetch());
        self.all.iter().map(|source| Arc::clone(source) as Arc<dyn RemoteSource>).collect()
    }
}
