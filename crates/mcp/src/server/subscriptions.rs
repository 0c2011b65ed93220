//! Notifies a client of changes: the lists, and the files to which it subscribed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prowess::Snapshot;
use prowess::resources::{self, SkillStamp};
use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::changes::ChangeEvent;
use super::errors::{self, ProtocolError};
use crate::uri::SkillUriSegments;

/// The maximum number of files to which a client can subscribe.
const SUBSCRIPTIONS_MAX: usize = 1_000;

/// The maximum number of clients whose files are checked at the same time.
pub(super) const CHECK_PERMITS: usize = 4;

/// The interval at which the files are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The files to which a client subscribed, with their last known stamps; `None` if they did not exist.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    files: Mutex<BTreeMap<String, Option<Arc<SkillStamp>>>>,
    /// Wakes the task that checks the files; it sleeps while there are none.
    added: Notify,
}

impl Subscriptions {
    /// Creates the subscriptions of a list of URIs.
    fn new(shared: &Shared, uris: &[String]) -> Self {
        let snapshot = shared.toolbox.snapshot();
        let mut stamps = StampReader::new(&snapshot);
        let files = uris.iter().map(|uri| (uri.clone(), stamps.stamp_of(uri).map(|(stamp, _)| stamp)));
        Self { files: Mutex::new(files.collect()), ..Self::default() }
    }

    /// Subscribes to a file.
    pub(super) fn add(&self, shared: &Shared, uri: &str) -> Result<(), ErrorData> {
        SkillUriSegments::parse(uri).map_err(ProtocolError::from)?;
        let snapshot = shared.toolbox.snapshot();
        let stamp = StampReader::new(&snapshot).stamp_of(uri).map(|(stamp, _)| stamp);
        let mut files = self.lock();
        if files.len() >= SUBSCRIPTIONS_MAX && !files.contains_key(uri) {
            return Err(errors::invalid_params(format!(
                "at most {SUBSCRIPTIONS_MAX} resources can be subscribed to"
            )));
        }
        files.insert(uri.to_owned(), stamp);
        self.added.notify_one();
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Returns the files that changed since the last check.
    fn take_changed(&self, shared: &Shared) -> Vec<String> {
        let mut changed = Vec::new();
        let uris: Vec<String> = self.lock().keys().cloned().collect();
        let snapshot = shared.toolbox.snapshot();
        let mut stamps = StampReader::new(&snapshot);
        for uri in uris {
            let now = stamps.stamp_of(&uri);
            let mut files = self.lock();
            let Some(previous) = files.get_mut(&uri) else { continue };
            let differs = match (&now, &*previous) {
                (Some((now, path)), Some(previous)) => now.differs_at(previous, path),
                (None, None) => false,
                _ => true,
            };
            *previous = now.map(|(stamp, _)| stamp);
            if differs {
                changed.push(uri);
            }
        }
        changed
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Option<Arc<SkillStamp>>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the stamps of files. Each skill is read once, however many of its files are requested.
struct StampReader<'s> {
    snapshot: &'s Snapshot,
    stamps: HashMap<PathBuf, Option<Arc<SkillStamp>>>,
}

impl<'s> StampReader<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, stamps: HashMap::new() }
    }

    /// Returns the stamp of a file's skill, and the path of the file in it.
    fn stamp_of(&mut self, uri: &str) -> Option<(Arc<SkillStamp>, String)> {
        let (skill, path) = SkillUriSegments::parse(uri).ok()?.resolve(self.snapshot)?;
        let stamp = self
            .stamps
            .entry(skill.skill_md_path())
            .or_insert_with(|| resources::stamp_skill(skill).ok().map(Arc::new));
        Some((Arc::clone(stamp.as_ref()?), path))
    }
}

/// A subscription request that is about to start. It is created before the request is acknowledged, so that no later
/// change is missed.
#[derive(Debug)]
pub(super) struct PendingSubscription {
    accepted: SubscriptionFilter,
    pub(super) subscriptions: Arc<Subscriptions>,
    pub(super) changes: broadcast::Receiver<ChangeEvent>,
}

impl PendingSubscription {
    pub(super) fn new(shared: &Shared, accepted: SubscriptionFilter) -> Self {
        let changes = shared.changes.subscribe();
        let uris = accepted.resource_subscriptions.as_deref().unwrap_or_default();
        Self { subscriptions: Arc::new(Subscriptions::new(shared, uris)), accepted, changes }
    }

    /// Returns the supported part of a filter.
    pub(super) fn accept_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| SkillUriSegments::parse(uri).is_ok());
            uris.truncate(SUBSCRIPTIONS_MAX);
        }
        accepted
    }

    pub(super) fn matches(&self, accepted: &SubscriptionFilter) -> bool {
        self.accepted == *accepted
    }
}

/// The destination of notifications.
pub(super) enum NotificationSink {
    /// Clients that start with `initialize`.
    Peer(Peer<RoleServer>),
    /// Clients with a subscription request.
    Listener(SubscriptionSink),
}

impl NotificationSink {
    /// Sends that the list of tools, or all lists, changed. The SDK filters unwanted notifications.
    async fn notify_lists_changed(&self, tools_only: bool) {
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

    /// Sends that the list of resources changed.
    async fn notify_files_changed(&self) {
        match self {
            Self::Peer(peer) => {
                let _ = peer.notify_resource_list_changed().await;
            }
            Self::Listener(sink) => {
                let _ = sink.notify_resource_list_changed().await;
            }
        }
    }

    async fn notify_updated(&self, uri: String) {
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

/// Forwards changes to a client until it is disconnected.
pub(super) async fn forward_changes(
    shared: Arc<Shared>,
    connection: u64,
    mut changes: broadcast::Receiver<ChangeEvent>,
    subscriptions: Arc<Subscriptions>,
    sink: NotificationSink,
    closed: CancellationToken,
) {
    let mut check = tokio::time::interval(CHECK_INTERVAL);
    check.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        let change = tokio::select! {
            () = closed.cancelled() => return,
            change = changes.recv() => change,
            () = subscriptions.added.notified() => continue,
            _ = check.tick(), if !subscriptions.is_empty() => {
                let changed = {
                    // Clients take turns, because there is not one thread per client.
                    let Ok(_permit) = shared.check_permits.acquire().await else { return };
                    let (shared, subscriptions) = (Arc::clone(&shared), Arc::clone(&subscriptions));
                    tokio::task::spawn_blocking(move || subscriptions.take_changed(&shared)).await
                };
                for uri in changed.unwrap_or_default() {
                    sink.notify_updated(uri).await;
                }
                continue;
            }
        };
        match change {
            Ok(ChangeEvent::Tools(number) | ChangeEvent::Files(number)) if number != connection => {}
            Ok(ChangeEvent::Files(_)) => sink.notify_files_changed().await,
            Ok(ChangeEvent::Tools(_)) => sink.notify_lists_changed(true).await,
            Ok(ChangeEvent::Skills) | Err(RecvError::Lagged(_)) => sink.notify_lists_changed(false).await,
            Err(RecvError::Closed) => return,
        }
    }
}
