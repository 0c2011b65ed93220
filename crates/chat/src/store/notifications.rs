//! Subscribers within one process. A notification only says that something changed; subscribers then read the
//! store, so it may arrive twice, late, or once for many events.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};

/// How many announcements are queued for a slow subscriber before it misses some.
const QUEUE_MAX: usize = 256;

/// The subject of an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Topic {
    /// Skills were added, changed or removed.
    Skills,
    /// Chats were created, renamed or deleted.
    Chats,
    /// Announcements may have been lost: reload everything.
    Missed,
}

/// A notification between processes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoreNotice {
    /// The chat has events up to this number.
    Events(String, u64),
    /// A question of the chat was answered.
    Answer(String),
    /// An announcement.
    Topic(Topic),
}

#[derive(Debug)]
pub(crate) struct Subscribers {
    chats: Mutex<HashMap<String, watch::Sender<u64>>>,
    topics: broadcast::Sender<Topic>,
}

impl Default for Subscribers {
    fn default() -> Self {
        Self { chats: Mutex::default(), topics: broadcast::Sender::new(QUEUE_MAX) }
    }
}

impl Subscribers {
    pub(crate) fn subscribe(&self, chat: &str) -> Subscription {
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        // Remove chats without subscribers.
        chats.retain(|_, sender| sender.receiver_count() > 0);
        let sender = chats.entry(chat.to_owned()).or_insert_with(|| watch::Sender::new(0));
        Subscription { receiver: sender.subscribe() }
    }

    pub(crate) fn announcements(&self) -> Announcements {
        Announcements { receiver: self.topics.subscribe() }
    }

    pub(crate) fn publish(&self, notice: &StoreNotice) {
        match notice {
            StoreNotice::Events(chat, seq) => {
                let chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(sender) = chats.get(chat) {
                    sender.send_if_modified(|latest| std::mem::replace(latest, (*latest).max(*seq)) < *seq);
                }
            }
            StoreNotice::Answer(chat) => {
                let chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(sender) = chats.get(chat) {
                    sender.send_modify(|_| {});
                }
            }
            // An error means that there are no subscribers.
            StoreNotice::Topic(topic) => drop(self.topics.send(*topic)),
        }
    }

    /// Wakes all subscribers after notifications may have been lost.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) fn publish_missed(&self) {
        let chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        chats.values().for_each(|sender| sender.send_modify(|_| {}));
        self.publish(&StoreNotice::Topic(Topic::Missed));
    }
}

/// Notifies about new events and answers in a chat.
#[derive(Debug)]
pub struct Subscription {
    receiver: watch::Receiver<u64>,
}

impl Subscription {
    /// Waits until there may be new events or an answer. Never returns after the store is closed. Cancel safe.
    pub async fn changed(&mut self) {
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A stream of announcements.
#[derive(Debug)]
pub struct Announcements {
    receiver: broadcast::Receiver<Topic>,
}

impl Announcements {
    /// Returns the next announcement: [`Topic::Missed`] if this subscriber was too slow, `None` if the store is closed.
    pub async fn next(&mut self) -> Option<Topic> {
        match self.receiver.recv().await {
            Ok(topic) => Some(topic),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Topic::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn notices_wake_only_the_subscribers_of_the_chat() {
        let hub = Subscribers::default();
        let (mut first, mut other) = (hub.subscribe("a"), hub.subscribe("b"));
        hub.publish(&StoreNotice::Events("a".into(), 3));
        first.changed().await;
        hub.publish(&StoreNotice::Events("a".into(), 2));
        assert!(!first.receiver.has_changed().unwrap() && !other.receiver.has_changed().unwrap());
        hub.publish(&StoreNotice::Answer("a".into()));
        first.changed().await;
        assert!(!other.receiver.has_changed().unwrap());
        hub.publish_missed();
        first.changed().await;
        other.changed().await;
        drop((first, other));
        let _third = hub.subscribe("c");
        assert_eq!(hub.chats.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_slow_subscriber_receives_missed() {
        let hub = Subscribers::default();
        let mut slow = hub.announcements();
        (0..=QUEUE_MAX).for_each(|_| hub.publish(&StoreNotice::Topic(Topic::Skills)));
        assert_eq!(slow.next().await, Some(Topic::Missed));
        assert_eq!(slow.next().await, Some(Topic::Skills));
        drop(hub);
        while let Some(topic) = slow.next().await {
            assert_eq!(topic, Topic::Skills);
        }
    }
}
