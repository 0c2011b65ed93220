//! Watches skills and notifies all connections of changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use prowess::Registry;
use prowess::policy::RefreshPolicy;
use prowess::registry::Watcher;
use tokio::sync::broadcast;

use super::ExternalWatcher;

/// How many events a slow receiver may lag behind. Beyond it, the receiver assumes that everything changed.
const EVENTS_MAX: usize = 64;

/// The interval at which the watcher checks whether it is still needed.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeEvent {
    Skills,
    /// The tools of one connection changed.
    Tools(u64),
    /// The files of one connection changed.
    Files(u64),
}

/// Broadcasts changes to all connections.
#[derive(Debug)]
pub(super) struct ChangeBroadcaster {
    sender: broadcast::Sender<ChangeEvent>,
    /// The watcher ends when this is dropped.
    _alive: Arc<AtomicBool>,
    /// Whether the skills are watched.
    pub(super) is_watched: bool,
}

impl ChangeBroadcaster {
    /// Watches the skills of a registry, if its policy refreshes them.
    pub(super) fn watch(registry: Arc<Registry>) -> Self {
        let (sender, _) = broadcast::channel(EVENTS_MAX);
        let alive = Arc::new(AtomicBool::new(true));
        let mut is_watched = false;
        if registry.policy().refresh != RefreshPolicy::AtStart
            // If watching fails, the skills are checked with each call.
            && let Ok(watcher) = Watcher::new(registry)
        {
            let (events, alive_watch) = (sender.clone(), Arc::downgrade(&alive));
            let thread = std::thread::Builder::new().name("skills".to_owned());
            is_watched = thread.spawn(move || run_watcher(watcher, &events, &alive_watch)).is_ok();
        }
        Self { sender, _alive: alive, is_watched }
    }

    /// Creates a broadcaster without a watcher. The caller reports changes with [`ChangeBroadcaster::notify`].
    pub(super) fn without_watcher(watcher: ExternalWatcher) -> Self {
        let (sender, _) = broadcast::channel(EVENTS_MAX);
        Self { sender, _alive: Arc::default(), is_watched: watcher == ExternalWatcher::Running }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<ChangeEvent> {
        self.sender.subscribe()
    }

    pub(super) fn notify(&self, event: ChangeEvent) {
        // There may be no receivers.
        let _ = self.sender.send(event);
    }
}

fn run_watcher(mut watcher: Watcher, events: &broadcast::Sender<ChangeEvent>, alive: &Weak<AtomicBool>) {
    while alive.upgrade().is_some_and(|alive| alive.load(Ordering::Relaxed)) {
        if watcher.wait_for_change(POLL_INTERVAL).is_some() {
            let _ = events.send(ChangeEvent::Skills);
        }
    }
}
