//! The current skills and settings. A change of the configuration replaces them as a whole; a running request keeps those it
//! started with.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use axum::Router;
use prowess::registry::Watcher;
use prowess::{Registry, Snapshot};
use prowess_chat::provider::{ModelSetupError, connect};
use prowess_chat::store::{Store, Topic};
use prowess_chat::turn::Agent;
use prowess_config::{Configuration, LoadConfigurationError};
use prowess_mcp::ExternalWatcher;
use prowess_mcp::http::HttpOptions;
use prowess_tools::{ScriptRunner, Toolbox};
use tokio_util::sync::CancellationToken;

use crate::cache::{IndexCache, OverviewCache, SkillListCache};

/// How often the watcher thread checks whether it should stop.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The pause between two reads of a configuration that has changed.
const SETTLE_INTERVAL: Duration = Duration::from_millis(50);

/// The maximum number of reads of a configuration that keeps changing.
const SETTLE_READS_MAX: usize = 20;

/// The result of loading a configuration. It is loaded again after each change.
#[derive(Debug)]
pub struct ServerParts {
    /// The effective values.
    pub configuration: Configuration,
    /// The skills.
    pub registry: Arc<Registry>,
    /// Runs the scripts of skills.
    pub runner: ScriptRunner,
}

/// Why the server could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// The configuration has errors.
    #[error(transparent)]
    Invalid(#[from] LoadConfigurationError),
    /// The model cannot be set up.
    #[error(transparent)]
    Model(#[from] ModelSetupError),
}

/// Loads the configuration and discovers skills.
pub type LoadFn = dyn Fn() -> Result<ServerParts, LoadError> + Send + Sync;

/// A loaded configuration with everything that is created from it.
pub(crate) struct LoadedState {
    pub(crate) configuration: Configuration,
    pub(crate) registry: Arc<Registry>,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) agent: Agent,
    pub(crate) mcp: Router,
    pub(crate) skill_list: SkillListCache,
    pub(crate) overview: OverviewCache,
    /// The index of skills that can be installed from this server.
    pub(crate) index: IndexCache,
    /// Whether a file watcher follows changes to the skills.
    watched: bool,
    /// The configuration as it was read when this was loaded.
    source: Configuration,
    /// The watcher and the MCP sessions end when this is dropped.
    alive: Arc<AtomicBool>,
    stop: CancellationToken,
}

impl LoadedState {
    /// Returns the current skills. Checks the disk for changes if no watcher is running.
    pub(crate) async fn skills(&self) -> Arc<Snapshot> {
        if self.watched {
            return self.registry.snapshot();
        }
        let toolbox = Arc::clone(&self.toolbox);
        let snapshot = tokio::task::spawn_blocking(move || toolbox.snapshot()).await;
        snapshot.unwrap_or_else(|_| self.registry.snapshot())
    }
}

impl Drop for LoadedState {
    fn drop(&mut self) {
        self.alive.store(false, Ordering::Relaxed);
        self.stop.cancel();
    }
}

/// Holds the current [`LoadedState`], and replaces it when the configuration changes.
pub(crate) struct Reloadable {
    load: Box<LoadFn>,
    current: RwLock<Arc<LoadedState>>,
    /// Why the configuration that was read last is not used; `None` if it is.
    error: RwLock<Option<String>>,
    /// Held while the configuration is read and replaced, so that an older read never replaces a newer one.
    reloading: Mutex<()>,
    store: Arc<dyn Store>,
    hosts: Vec<String>,
    stop: CancellationToken,
}

impl Reloadable {
    /// Loads the configuration for the first time. Must be called inside a Tokio runtime.
    pub(crate) fn new(
        load: Box<LoadFn>,
        store: Arc<dyn Store>,
        hosts: Vec<String>,
        stop: CancellationToken,
    ) -> Result<Self, LoadError> {
        let current = RwLock::new(Arc::new(build_state(load()?, &store, &hosts, &stop)?));
        Ok(Self { load, current, error: RwLock::default(), reloading: Mutex::default(), store, hosts, stop })
    }

    pub(crate) fn current(&self) -> Arc<LoadedState> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns why the configuration that was read last is not used; `None` if it is.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_error(&self, error: Option<String>) {
        let mut last = self.error.write().unwrap_or_else(PoisonError::into_inner);
        match &error {
            Some(error) if last.as_ref() != Some(error) => {
                tracing::error!(%error, "the changed configuration is invalid; the previous one stays active");
            }
            None if last.is_some() => tracing::info!("the configuration is valid again"),
            _ => {}
        }
        *last = error;
    }

    /// Loads everything again. If that fails, the current state stays. Blocks; must be called inside a Tokio runtime.
    pub(crate) fn reload(&self) -> Result<Arc<LoadedState>, LoadError> {
        let _guard = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        self.reload_locked()
    }

    fn reload_locked(&self) -> Result<Arc<LoadedState>, LoadError> {
        let loaded = (self.load)().and_then(|parts| build_state(parts, &self.store, &self.hosts, &self.stop));
        self.set_error(loaded.as_ref().err().map(LoadError::to_string));
        let next = Arc::new(loaded?);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::clone(&next);
        Ok(next)
    }

    /// Refreshes the configuration, which another server may have changed, and the skills. Blocks; must be called inside a Tokio
    /// runtime.
    pub(crate) fn refresh(&self) -> Arc<Snapshot> {
        let guard = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.current();
        let load = || prowess_config::load(&current.configuration.inputs);
        let mut configuration = load();
        if configuration != current.source {
            configuration = settle(configuration, || {
                std::thread::sleep(SETTLE_INTERVAL);
                load()
            });
        }
        if configuration == current.source {
            self.set_error(None);
        } else if let Ok(next) = self.reload_locked() {
            return next.registry.snapshot();
        }
        drop(guard);
        current.registry.refresh()
    }
}

/// Reads a value again until two consecutive reads are equal. Many editors truncate a file before they write it, and an
/// empty configuration is valid and enables every skill.
fn settle<T: PartialEq>(mut last: T, mut read: impl FnMut() -> T) -> T {
    for _ in 0..SETTLE_READS_MAX {
        let next = read();
        if next == last {
            break;
        }
        last = next;
    }
    last
}

fn build_state(
    parts: ServerParts,
    store: &Arc<dyn Store>,
    hosts: &[String],
    stop: &CancellationToken,
) -> Result<LoadedState, LoadError> {
    let ServerParts { configuration, registry, runner } = parts;
    // A configuration with errors falls back to the preset in places, which would enable disabled skills again.
    let configuration = configuration.into_result()?;
    let alive = Arc::new(AtomicBool::new(true));
    let clients = Arc::new(OnceLock::new());
    let watched = watch(&registry, store, Arc::clone(&clients), Arc::downgrade(&alive));
    let semantic = prowess_embed::semantic(&configuration.embeddings, |name| std::env::var_os(name));
    let semantic = semantic
        .map(|semantic| Arc::new(semantic.with_warning_handler(|message| tracing::warn!("{message}"))));
    let toolbox =
        || Toolbox::new(Arc::clone(&registry)).with_runner(runner.clone()).with_semantic(semantic.clone());
    let stop = stop.child_token();
    let server = prowess_mcp::McpServer::with_external_watcher(
        toolbox(),
        prowess_mcp::McpServerOptions::default(),
        if watched { ExternalWatcher::Running } else { ExternalWatcher::Unavailable },
    );
    let _ = clients.set(server.clone());
    // Our own guard has authenticated these requests.
    let options = HttpOptions { hosts: hosts.to_vec(), ..HttpOptions::default() };
    let mcp = prowess_mcp::http::router(&server, options, stop.clone());
    let toolbox = Arc::new(toolbox().with_watched(watched));
    let model = connect(&configuration.chat, |name| std::env::var_os(name), &toolbox)?;
    let agent = Agent::new(Arc::clone(&toolbox), model, configuration.chat.limits)
        .with_skill_models(configuration.chat.skill_models.clone());
    let (listed, overview, index) =
        (SkillListCache::default(), OverviewCache::default(), IndexCache::default());
    let source = prowess_config::load(&configuration.inputs);
    Ok(LoadedState {
        configuration,
        registry,
        toolbox,
        agent,
        mcp,
        skill_list: listed,
        overview,
        index,
        watched,
        source,
        alive,
        stop,
    })
}

/// Starts a thread that watches the skills on disk and notifies every server on the same store and the MCP clients of changes.
/// Returns `false` if watching is not possible.
fn watch(
    registry: &Arc<Registry>,
    store: &Arc<dyn Store>,
    clients: Arc<OnceLock<prowess_mcp::McpServer>>,
    alive: Weak<AtomicBool>,
) -> bool {
    let Ok(mut watcher) = Watcher::new(Arc::clone(registry)) else { return false };
    let store = Arc::clone(store);
    let watch_changes = move || {
        while alive.upgrade().is_some_and(|alive| alive.load(Ordering::Relaxed)) {
            if watcher.wait_for_change(STOP_POLL_INTERVAL).is_some() {
                store.announce(Topic::Skills);
                if let Some(clients) = clients.get() {
                    clients.notify_skills_changed();
                }
            }
        }
    };
    std::thread::Builder::new().name("prowess-watch".to_owned()).spawn(watch_changes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_until_it_no_longer_changes() {
        let mut reads = ["disabled = [", "disabled = []", "disabled = []", "not read"].into_iter();
        assert_eq!(settle("", || reads.next().unwrap()), "disabled = []");
        assert_eq!(reads.next(), Some("not read"));
    }

    #[test]
    fn a_value_that_keeps_changing_is_read_a_bounded_number_of_times() {
        let mut number = 0;
        let last = settle(0, || {
            number += 1;
            number
        });
        assert_eq!(last, SETTLE_READS_MAX);
    }
}
