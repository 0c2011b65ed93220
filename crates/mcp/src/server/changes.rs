//! Noticing that skills changed, and telling everybody.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use prowess::Registry;
use prowess::policy::Refresh;
use prowess::registry::Watcher;
use tokio::sync::broadcast;

/// How many changes a slow listener may be behind; one that is further behind is told that all changed, which is true.
const BEHIND: usize = 64;

/// How often it is asked whether anybody still wants to know.
const ASK: Duration = Duration::from_millis(500);

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Skills came, went or are others now.
    Skills,
    /// The tools of one connection did.
    Tools(u64),
}

/// What changed, for all who listen.
#[derive(Debug)]
pub(super) struct Changes {
    sender: broadcast::Sender<Change>,
    /// The watch ends when this does.
    _alive: Arc<AtomicBool>,
    /// Whether there is a watch.
    pub(super) watched: bool,
}

impl Changes {
    /// Watches the skills of a registry, where its policy has them looked at again at all.
    pub(super) fn watching(registry: Arc<Registry>) -> Self {
        let (sender, _) = broadcast::channel(BEHIND);
        let alive = Arc::new(AtomicBool::new(true));
        let mut watched = false;
        if registry.policy().refresh != Refresh::AtStart
            // What cannot be watched is still seen by whoever looks again with each call.
            && let Ok(watcher) = Watcher::new(registry)
        {
            let (told, wanted) = (sender.clone(), Arc::downgrade(&alive));
            let thread = std::thread::Builder::new().name("skills".to_owned());
            watched = thread.spawn(move || watch(watcher, &told, &wanted)).is_ok();
        }
        Self { sender, _alive: alive, watched }
    }

    /// Does not watch: somebody else does, and says so with [`Changes::tell`].
    pub(super) fn watched_elsewhere(watched: bool) -> Self {
        let (sender, _) = broadcast::channel(BEHIND);
        Self { sender, _alive: Arc::default(), watched }
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Change> {
        self.sender.subscribe()
    }

    pub(super) fn tell(&self, change: Change) {
        // Nobody need listen.
        let _ = self.sender.send(change);
    }
}

fn watch(mut watcher: Watcher, told: &broadcast::Sender<Change>, wanted: &Weak<AtomicBool>) {
    while wanted.upgrade().is_some_and(|alive| alive.load(Ordering::Relaxed)) {
        if watcher.next(ASK).is_some() {
            let _ = told.send(Change::Skills);
        }
    }
}
