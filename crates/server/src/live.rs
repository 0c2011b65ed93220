//! The skills and settings in force. They are replaced as a whole when the configuration changes; a request that is under way
//! goes on with those it began with.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use axum::Router;
use prowess::config::{self, Configuration};
use prowess::registry::Watcher;
use prowess::{Registry, Snapshot};
use prowess_chat::provider::{SetupError, connect};
use prowess_chat::store::{Store, Topic};
use prowess_chat::turn::Agent;
use prowess_mcp::http::HttpOptions;
use prowess_tools::{Runner, Toolbox};
use tokio_util::sync::CancellationToken;

use crate::skills::{Index, Listed};

/// How often a watch looks whether anybody still wants it.
const ASK: Duration = Duration::from_millis(500);

/// What a configuration makes: read anew each time that it changes.
#[derive(Debug)]
pub struct Parts {
    /// The values in force.
    pub configuration: Configuration,
    /// The skills.
    pub registry: Arc<Registry>,
    /// What scripts are run with.
    pub runner: Runner,
}

/// Why it could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// There is no model.
    #[error(transparent)]
    Model(#[from] SetupError),
}

/// Reads the configuration and scans.
pub type Load = dyn Fn() -> Result<Parts, LoadError> + Send + Sync;

/// What is in force.
pub(crate) struct Loaded {
    pub(crate) configuration: Configuration,
    pub(crate) registry: Arc<Registry>,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) agent: Agent,
    pub(crate) mcp: Router,
    /// The list of skills as it is sent.
    pub(crate) listed: Listed,
    /// What others can install from here.
    pub(crate) index: Index,
    /// Whether the skills are followed as they change.
    watched: bool,
    /// What the files and variables said then.
    read: Configuration,
    /// The watch ends, and the sessions of MCP with it, when this does.
    alive: Arc<AtomicBool>,
    stop: CancellationToken,
}

impl Loaded {
    /// The skills as they are now. Where nobody follows them, they are looked at.
    pub(crate) async fn skills(&self) -> Arc<Snapshot> {
        if self.watched {
            return self.registry.snapshot();
        }
        let toolbox = Arc::clone(&self.toolbox);
        let looked = tokio::task::spawn_blocking(move || toolbox.snapshot()).await;
        looked.unwrap_or_else(|_| self.registry.snapshot())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.alive.store(false, Ordering::Relaxed);
        self.stop.cancel();
    }
}

/// The way to what is in force.
pub(crate) struct Live {
    load: Box<Load>,
    current: RwLock<Arc<Loaded>>,
    store: Arc<dyn Store>,
    hosts: Vec<String>,
    stop: CancellationToken,
}

impl Live {
    /// Reads for the first time. Has to be called inside a runtime.
    pub(crate) fn new(
        load: Box<Load>,
        store: Arc<dyn Store>,
        hosts: Vec<String>,
        stop: CancellationToken,
    ) -> Result<Self, LoadError> {
        let current = RwLock::new(Arc::new(loaded(load()?, &store, &hosts, &stop)?));
        Ok(Self { load, current, store, hosts, stop })
    }

    /// What is in force now.
    pub(crate) fn now(&self) -> Arc<Loaded> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads everything anew. Where that fails, what was in force stays. It blocks; has to be called inside a runtime.
    pub(crate) fn reload(&self) -> Result<Arc<Loaded>, LoadError> {
        let next = Arc::new(loaded((self.load)()?, &self.store, &self.hosts, &self.stop)?);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::clone(&next);
        Ok(next)
    }

    /// Looks at everything again: at the configuration, which another server may have changed, and at the skills. It blocks; has
    /// to be called inside a runtime.
    pub(crate) fn catch_up(&self) -> Arc<Snapshot> {
        let now = self.now();
        if config::load(&now.configuration.inputs) != now.read {
            match self.reload() {
                Ok(next) => return next.registry.snapshot(),
                Err(error) => tracing::warn!(%error, "the changed configuration cannot be used"),
            }
        }
        now.registry.refresh()
    }
}

fn loaded(
    parts: Parts,
    store: &Arc<dyn Store>,
    hosts: &[String],
    stop: &CancellationToken,
) -> Result<Loaded, LoadError> {
    let Parts { configuration, registry, runner } = parts;
    let alive = Arc::new(AtomicBool::new(true));
    let watched = watch(&registry, store, Arc::downgrade(&alive));
    let semantic = prowess_embed::semantic(&configuration.embeddings, |name| std::env::var_os(name));
    let semantic = semantic.map(|semantic| Arc::new(semantic.telling(|why| tracing::warn!("{why}"))));
    let toolbox =
        || Toolbox::new(Arc::clone(&registry)).with_runner(runner.clone()).with_semantic(semantic.clone());
    let stop = stop.child_token();
    let server = prowess_mcp::Server::new(toolbox(), prowess_mcp::Options::default());
    // Whoever gets there was let in by our own guard.
    let options = HttpOptions { hosts: hosts.to_vec(), ..HttpOptions::default() };
    let mcp = prowess_mcp::http::router(&server, options, stop.clone());
    let toolbox = Arc::new(toolbox().watched(watched));
    let model = connect(&configuration.chat, |name| std::env::var_os(name), &toolbox)?;
    let agent = Agent::new(Arc::clone(&toolbox), model, configuration.chat.limits);
    let (listed, index) = (Listed::default(), Index::default());
    let read = config::load(&configuration.inputs);
    Ok(Loaded { configuration, registry, toolbox, agent, mcp, listed, index, watched, read, alive, stop })
}

/// Follows what happens to the skills on disk; whether that is possible.
fn watch(registry: &Arc<Registry>, store: &Arc<dyn Store>, wanted: Weak<AtomicBool>) -> bool {
    let Ok(mut watcher) = Watcher::new(Arc::clone(registry)) else { return false };
    let store = Arc::clone(store);
    let work = move || {
        while wanted.upgrade().is_some_and(|alive| alive.load(Ordering::Relaxed)) {
            if watcher.next(ASK).is_some() {
                store.announce(Topic::Skills);
            }
        }
    };
    std::thread::Builder::new().name("prowess-watch".to_owned()).spawn(work).is_ok()
}
