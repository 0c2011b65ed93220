//! Telling a client what changed: the lists, and the files that it asked about.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prowess::Snapshot;
use prowess::policy::Policy;
use prowess::resource::{self, Stamp};
use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::changes::Change;
use super::said::{self, Said};
use crate::uri::Parts;

/// The most files that one client may ask about.
const MOST: usize = 1_000;

/// How many clients' files are looked at at once.
pub(super) const LOOKING: usize = 4;

/// How often those files are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// The files that a client asked about, as they were last seen; `None` where they were not there.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    files: Mutex<BTreeMap<String, Option<Arc<Stamp>>>>,
    /// Wakes whoever looks at them: while there are none, nobody does.
    added: Notify,
}

impl Subscriptions {
    /// Those of a list that was made to be listened to.
    fn of(shared: &Shared, uris: &[String]) -> Self {
        let (snapshot, policy) = (shared.toolbox.snapshot(), shared.registry().policy());
        let mut look = Look::at(&snapshot, policy);
        let seen = uris.iter().map(|uri| (uri.clone(), look.file(uri).map(|(stamp, _)| stamp)));
        Self { files: Mutex::new(seen.collect()), ..Self::default() }
    }

    /// Looks at a file from now on.
    pub(super) fn add(&self, shared: &Shared, uri: &str) -> Result<(), ErrorData> {
        Parts::parse(uri).map_err(Said::from)?;
        let snapshot = shared.toolbox.snapshot();
        let seen = Look::at(&snapshot, shared.registry().policy()).file(uri).map(|(stamp, _)| stamp);
        let mut files = self.lock();
        if files.len() >= MOST && !files.contains_key(uri) {
            return Err(said::invalid(format!("at most {MOST} resources can be subscribed to")));
        }
        files.insert(uri.to_owned(), seen);
        self.added.notify_one();
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Which of them changed since they were last looked at.
    fn changed(&self, shared: &Shared) -> Vec<String> {
        let mut changed = Vec::new();
        let uris: Vec<String> = self.lock().keys().cloned().collect();
        let (snapshot, policy) = (shared.toolbox.snapshot(), shared.registry().policy());
        let mut look = Look::at(&snapshot, policy);
        for uri in uris {
            let now = look.file(&uri);
            let mut files = self.lock();
            let Some(before) = files.get_mut(&uri) else { continue };
            let differs = match (&now, &*before) {
                (Some((now, path)), Some(before)) => now.differs_at(before, path),
                (None, None) => false,
                _ => true,
            };
            *before = now.map(|(stamp, _)| stamp);
            if differs {
                changed.push(uri);
            }
        }
        changed
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Option<Arc<Stamp>>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One look at files: each skill is looked at once, however many of its files are asked about.
struct Look<'s> {
    snapshot: &'s Snapshot,
    policy: &'s Policy,
    stamps: HashMap<PathBuf, Option<Arc<Stamp>>>,
}

impl<'s> Look<'s> {
    fn at(snapshot: &'s Snapshot, policy: &'s Policy) -> Self {
        Self { snapshot, policy, stamps: HashMap::new() }
    }

    /// What the file system says of a file's skill, and where in it the file is.
    fn file(&mut self, uri: &str) -> Option<(Arc<Stamp>, String)> {
        let (skill, path) = Parts::parse(uri).ok()?.resolve(self.snapshot, self.policy)?;
        let stamp =
            self.stamps.entry(skill.location()).or_insert_with(|| resource::stamp(skill).ok().map(Arc::new));
        Some((Arc::clone(stamp.as_ref()?), path))
    }
}

/// What a client that is about to listen is told of. It is made before the client is told that it listens: whatever
/// happens after that is not missed.
#[derive(Debug)]
pub(super) struct Listening {
    accepted: SubscriptionFilter,
    pub(super) subscriptions: Arc<Subscriptions>,
    pub(super) changes: broadcast::Receiver<Change>,
}

impl Listening {
    pub(super) fn to(shared: &Shared, accepted: SubscriptionFilter) -> Self {
        let changes = shared.changes.listen();
        let uris = accepted.resource_subscriptions.as_deref().unwrap_or_default();
        Self { subscriptions: Arc::new(Subscriptions::of(shared, uris)), accepted, changes }
    }

    /// What of all this can be listened to.
    pub(super) fn filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| Parts::parse(uri).is_ok());
            uris.truncate(MOST);
        }
        accepted
    }

    pub(super) fn is_for(&self, accepted: &SubscriptionFilter) -> bool {
        self.accepted == *accepted
    }
}

/// Where a client is told.
pub(super) enum Sink {
    /// Clients that began with `initialize`.
    Peer(Peer<RoleServer>),
    /// Clients that listen with a request of their own.
    Listener(SubscriptionSink),
}

impl Sink {
    /// Tells that lists changed: the tools, or all of them. Whoever does not want to know is not told.
    async fn lists(&self, tools_only: bool) {
        match self {
            Self::Peer(peer) => {
                let _ = peer.notify_tool_list_changed().await;
                if !tools_only {
                    let _ = peer.notify_resource_list_changed().await;
                    let _ = peer.notify_prompt_list_changed().await;
                }
            }
            Self::Listener(sink) => {
                let _ = sink.notify_tool_list_changed().await;
                if !tools_only {
                    let _ = sink.notify_resource_list_changed().await;
                    let _ = sink.notify_prompt_list_changed().await;
                }
            }
        }
    }

    async fn updated(&self, uri: String) {
        match self {
            Self::Peer(peer) => {
                let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
            }
            Self::Listener(sink) => {
                let _ = sink.notify_resource_updated(uri).await;
            }
        }
    }
}

/// Tells a client of changes until it is gone.
pub(super) async fn forward(
    shared: Arc<Shared>,
    connection: u64,
    mut changes: broadcast::Receiver<Change>,
    subscriptions: Arc<Subscriptions>,
    sink: Sink,
    gone: CancellationToken,
) {
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        let change = tokio::select! {
            () = gone.cancelled() => return,
            change = changes.recv() => change,
            () = subscriptions.added.notified() => continue,
            _ = look.tick(), if !subscriptions.is_empty() => {
                let changed = {
                    // Many clients that ask about files take turns: there is no thread for each.
                    let Ok(_turn) = shared.looking.acquire().await else { return };
                    let (shared, subscriptions) = (Arc::clone(&shared), Arc::clone(&subscriptions));
                    tokio::task::spawn_blocking(move || subscriptions.changed(&shared)).await
                };
                for uri in changed.unwrap_or_default() {
                    sink.updated(uri).await;
                }
                continue;
            }
        };
        match change {
            Ok(Change::Tools(number)) if number != connection => {}
            Ok(Change::Tools(_)) => sink.lists(true).await,
            Ok(Change::Skills) | Err(RecvError::Lagged(_)) => sink.lists(false).await,
            Err(RecvError::Closed) => return,
        }
    }
}
