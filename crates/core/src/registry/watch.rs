//! Watching the roots and telling what changed.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify_debouncer_full::notify::{self, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};

use super::{Difference, Registry, Snapshot};

/// How long changes are gathered before they are looked at: an editor saves in several steps.
const GATHER: Duration = Duration::from_millis(200);

/// The file system cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("the directories of skills cannot be watched")]
pub struct WatchError(#[from] notify::Error);

/// Watches the roots of a registry. Dropping it ends the watch.
#[derive(Debug)]
pub struct Watcher {
    registry: Arc<Registry>,
    events: Receiver<DebounceEventResult>,
    debouncer: Debouncer<RecommendedWatcher, RecommendedCache>,
    last: Arc<Snapshot>,
}

impl Watcher {
    /// Starts watching. Roots that do not exist yet are noticed through the nearest folder above them that does.
    pub fn new(registry: Arc<Registry>) -> Result<Self, WatchError> {
        let (sender, events) = channel();
        let debouncer = new_debouncer(GATHER, None, sender)?;
        let last = registry.snapshot();
        let mut watcher = Self { registry, events, debouncer, last };
        watcher.watch_roots()?;
        Ok(watcher)
    }

    fn watch_roots(&mut self) -> Result<(), WatchError> {
        for root in self.last.roots().filter(|root| !root.is_embedded()) {
            self.debouncer.watch(root.canonical(), RecursiveMode::Recursive)?;
        }
        for absent in self.last.absent_roots() {
            if let Some(above) = absent.path.ancestors().skip(1).find(|folder| folder.is_dir()) {
                self.debouncer.watch(above, RecursiveMode::NonRecursive)?;
            }
        }
        Ok(())
    }

    /// Waits until something changes, at most `timeout`, and tells the difference. `None` when the time is up.
    pub fn next(&mut self, timeout: Duration) -> Option<Difference> {
        let end = std::time::Instant::now() + timeout;
        loop {
            match self.events.recv_timeout(end.saturating_duration_since(std::time::Instant::now())) {
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
                Ok(_) => {
                    let now = self.registry.refresh();
                    let difference = now.since(&self.last);
                    let new_roots = now.roots != self.last.roots;
                    self.last = now;
                    if new_roots {
                        // What cannot be watched is still seen at the next refresh.
                        let _ = self.watch_roots();
                    }
                    if !difference.is_empty() {
                        return Some(difference);
                    }
                }
            }
        }
    }
}
