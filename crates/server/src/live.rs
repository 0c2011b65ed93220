//! The skills and settings in force. They are replaced as a whole when the configuration changes; a request that is under way
//! goes on with those it began with.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use axum::Router;
use prowess::registry::Watcher;
use prowess::{Registry, Snapshot};
use prowess_chat::provider::{SetupError, connect};
use prowess_chat::store::{Store, Topic};
use prowess_chat::turn::Agent;
use prowess_config::{Configuration, ConfigurationError};
use prowess_mcp::http::HttpOptions;
use prowess_tools::{Runner, Toolbox};
use tokio_util::sync::CancellationToken;

use crate::cache::{Index, Listed, Overviews};

/// How often a watch looks whether anybody still wants it.
const ASK: Duration = Duration::from_millis(500);

/// The time between two readings of a configuration that has changed.
const SETTLE: Duration = Duration::from_millis(50);

/// The most readings of a configuration that keeps changing.
const SETTLE_MAX: usize = 20;

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
    /// The configuration has errors.
    #[error(transparent)]
    Wrong(#[from] ConfigurationError),
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
    /// The figures as they are sent.
    pub(crate) overview: Overviews,
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
    /// Why the configuration that was read last is not in force; `None` if it is.
    error: RwLock<Option<String>>,
    /// Held while the configuration is read and replaced, so that an older reading never replaces a newer one.
    reloading: Mutex<()>,
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
        Ok(Self { load, current, error: RwLock::default(), reloading: Mutex::default(), store, hosts, stop })
    }

    /// What is in force now.
    pub(crate) fn now(&self) -> Arc<Loaded> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why the configuration that was read last is not in force; `None` if it is.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_error(&self, error: Option<String>) {
        let mut last = self.error.write().unwrap_or_else(PoisonError::into_inner);
        match &error {
            Some(error) if last.as_ref() != Some(error) => {
                tracing::error!(%error, "the changed configuration cannot be used; the previous one stays in force");
            }
            None if last.is_some() => tracing::info!("the configuration can be used again"),
            _ => {}
        }
        *last = error;
    }

    /// Reads everything anew. Where that fails, what was in force stays. It blocks; has to be called inside a runtime.
    pub(crate) fn reload(&self) -> Result<Arc<Loaded>, LoadError> {
        let _guard = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        self.reload_locked()
    }

    fn reload_locked(&self) -> Result<Arc<Loaded>, LoadError> {
        let loaded = (self.load)().and_then(|parts| loaded(parts, &self.store, &self.hosts, &self.stop));
        self.set_error(loaded.as_ref().err().map(LoadError::to_string));
        let next = Arc::new(loaded?);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::clone(&next);
        Ok(next)
    }

    /// Looks at everything again: at the configuration, which another server may have changed, and at the skills. It blocks; has
    /// to be called inside a runtime.
    pub(crate) fn catch_up(&self) -> Arc<Snapshot> {
        let guard = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        let read = || prowess_config::load(&now.configuration.inputs);
        let mut configuration = read();
        if configuration != now.read {
            configuration = settle(configuration, || {
                std::thread::sleep(SETTLE);
                read()
            });
        }
        if configuration == now.read {
            self.set_error(None);
        } else if let Ok(next) = self.reload_locked() {
            return next.registry.snapshot();
        }
        drop(guard);
        now.registry.refresh()
    }
}

/// Reads a value again until two readings in a row are equal. Many editors truncate a file before they write it, and an
/// empty configuration is a valid one that enables everything.
fn settle<T: PartialEq>(mut last: T, mut read: impl FnMut() -> T) -> T {
    for _ in 0..SETTLE_MAX {
        let next = read();
        if next == last {
            break;
        }
        last = next;
    }
    last
}

fn loaded(
    parts: Parts,
    store: &Arc<dyn Store>,
    hosts: &[String],
    stop: &CancellationToken,
) -> Result<Loaded, LoadError> {
    let Parts { configuration, registry, runner } = parts;
    // A configuration with errors is partly that of the preset: skills that were switched off would be back.
    let configuration = configuration.check()?;
    let alive = Arc::new(AtomicBool::new(true));
    let clients = Arc::new(OnceLock::new());
    let watched = watch(&registry, store, Arc::clone(&clients), Arc::downgrade(&alive));
    let semantic = prowess_embed::semantic(&configuration.embeddings, |name| std::env::var_os(name));
    let semantic = semantic.map(|semantic| Arc::new(semantic.telling(|why| tracing::warn!("{why}"))));
    let toolbox =
        || Toolbox::new(Arc::clone(&registry)).with_runner(runner.clone()).with_semantic(semantic.clone());
    let stop = stop.child_token();
    let server = prowess_mcp::Server::watched_elsewhere(toolbox(), prowess_mcp::Options::default(), watched);
    let _ = clients.set(server.clone());
    // Whoever gets there was let in by our own guard.
    let options = HttpOptions { hosts: hosts.to_vec(), ..HttpOptions::default() };
    let mcp = prowess_mcp::http::router(&server, options, stop.clone());
    let toolbox = Arc::new(toolbox().watched(watched));
    let model = connect(&configuration.chat, |name| std::env::var_os(name), &toolbox)?;
    let agent = Agent::new(Arc::clone(&toolbox), model, configuration.chat.limits);
    let (listed, overview, index) = (Listed::default(), Overviews::default(), Index::default());
    let read = prowess_config::load(&configuration.inputs);
    Ok(Loaded {
        configuration,
        registry,
        toolbox,
        agent,
        mcp,
        listed,
        overview,
        index,
        watched,
        read,
        alive,
        stop,
    })
}

/// Follows what happens to the skills on disk; whether that is possible. Every server on the same store and the clients of MCP
/// are told.
fn watch(
    registry: &Arc<Registry>,
    store: &Arc<dyn Store>,
    clients: Arc<OnceLock<prowess_mcp::Server>>,
    wanted: Weak<AtomicBool>,
) -> bool {
    let Ok(mut watcher) = Watcher::new(Arc::clone(registry)) else { return false };
    let store = Arc::clone(store);
    let work = move || {
        while wanted.upgrade().is_some_and(|alive| alive.load(Ordering::Relaxed)) {
            if watcher.next(ASK).is_some() {
                store.announce(Topic::Skills);
                if let Some(clients) = clients.get() {
                    clients.skills_changed();
                }
            }
        }
    };
    std::thread::Builder::new().name("prowess-watch".to_owned()).spawn(work).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_until_it_no_longer_changes() {
        let mut readings = ["disabled = [", "disabled = []", "disabled = []", "not read"].into_iter();
        assert_eq!(settle("", || readings.next().unwrap()), "disabled = []");
        assert_eq!(readings.next(), Some("not read"));
    }

    #[test]
    fn a_value_that_keeps_changing_is_read_a_bounded_number_of_times() {
        let mut number = 0;
        let last = settle(0, || {
            number += 1;
            number
        });
        assert_eq!(last, SETTLE_MAX);
    }
}
