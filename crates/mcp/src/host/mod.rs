//! Skills from other servers that have the skills extension: Prowess as their host.
//!
//! | module | subject |
//! |---|---|
//! | `uri`, `entry` | what a server lists, judged by the extension's rules (pure) |
//! | `started`, `http`, `transport` | a server that is started, or reached over HTTP, with bounds on what it may send |
//! | `client` | the calls that are made, each with a deadline |
//! | `listing` | all pages of a listing, within bounds |
//! | `cache` | what was listed and read, on disk |
//! | `engine` | where all of that waits, so that callers need no async |
//! | `server` | what is known of one server, and asking it for more |
//! | `source` | one server as a [`Supply`] of the registry |
//!
//! What must always hold: a server is known by the label that the user gave it; nothing is fetched before it is needed;
//! and a server that hangs, dies, floods or lies harms nothing but its own skills. That what it sends is what it listed
//! is verified by the core, at each read.

mod cache;
mod client;
mod engine;
mod entry;
mod http;
mod listing;
mod server;
mod source;
mod started;
mod transport;
mod uri;

use std::ffi::OsString;
use std::sync::Arc;

use prowess::Surroundings;
use prowess::supply::Supply;
use prowess_config::McpSource;

pub use cache::{forget, prune};
pub use source::{Report, Source};

/// The longest message that a server may send, in bytes: a file of 16 MiB fits, however it is escaped.
pub(crate) const MESSAGE_MAX: usize = 100 * 1024 * 1024;

/// The servers of a configuration. None is started or asked yet.
#[derive(Debug, Default)]
pub struct Sources {
    all: Vec<Arc<Source>>,
}

impl Sources {
    /// The servers that are switched on. `environment` is what their variables are taken from.
    pub fn new(
        sources: &[McpSource],
        world: &Surroundings,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        if !sources.iter().any(|source| source.enabled) {
            return Self::default();
        }
        let environment: Arc<[(OsString, OsString)]> = environment.into_iter().collect();
        let engine = Arc::new(engine::Engine::default());
        let enabled = sources.iter().filter(|source| source.enabled);
        let all = enabled
            .map(|source| {
                Arc::new(Source::new(
                    source.clone(),
                    world.clone(),
                    Arc::clone(&environment),
                    Arc::clone(&engine),
                ))
            })
            .collect();
        Self { all }
    }

    /// All of them.
    pub fn all(&self) -> &[Arc<Source>] {
        &self.all
    }

    /// The one of this label.
    pub fn get(&self, label: &str) -> Option<&Arc<Source>> {
        self.all.iter().find(|source| source.label() == label)
    }

    /// For a registry. All servers that have to be asked are asked at once, by whoever asks the first.
    pub fn supplies(&self) -> Vec<Arc<dyn Supply>> {
        self.all.iter().for_each(|source| source.warm());
        self.all.iter().map(|source| Arc::clone(source) as Arc<dyn Supply>).collect()
    }
}
