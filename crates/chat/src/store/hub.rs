//! Who waits for what: the subscribers of one process. Notices only say that there is something; what it is, everybody reads
//! from the store, so that a notice may come twice, late, or for many events at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};

/// How many announcements may wait for a listener before it is told that it missed some.
const WAITING_MAX: usize = 256;

/// What concerns everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Topic {
    /// Skills were added, changed or removed.
    Skills,
    /// Chats were begun, renamed or deleted.
    Chats,
    /// Something may have been announced that did not get here: look at everything again.
    Missed,
}

/// What one process tells the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notice {
    /// There are events in this chat, up to this number.
    Events(String, u64),
    /// An announcement.
    Topic(Topic),
}

#[derive(Debug)]
pub(crate) struct Hub {
    chats: Mutex<HashMap<String, watch::Sender<u64>>>,
    topics: broadcast::Sender<Topic>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { chats: Mutex::default(), topics: broadcast::Sender::new(WAITING_MAX) }
    }
}

impl Hub {
    pub(crate) fn subscribe(&self, chat: &str) -> Subscription {
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing is kept for those who are gone.
        chats.retain(|_, sender| sender.receiver_count() > 0);
        let sender = chats.entry(chat.to_owned()).or_insert_with(|| watch::Sender::new(0));
        Subscription { receiver: sender.subscribe() }
    }

    pub(crate) fn announcements(&self) -> Announcements {
        Announcements { receiver: self.topics.subscribe() }
    }

    pub(crate) fn notice(&self, notice: &Notice) {
        match notice {
            Notice::Events(chat, seq) => {
                let chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(sender) = chats.get(chat) {
                    sender.send_if_modified(|known| std::mem::replace(known, (*known).max(*seq)) < *seq);
                }
            }
            // That nobody listens is fine.
            Notice::Topic(topic) => drop(self.topics.send(*topic)),
        }
    }

    /// Notices may have been lost: everybody looks.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) fn missed(&self) {
        let chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        chats.values().for_each(|sender| sender.send_modify(|_| {}));
        self.notice(&Notice::Topic(Topic::Missed));
    }
}

/// Tells when there are new events in a chat.
#[derive(Debug)]
pub struct Subscription {
    receiver: watch::Receiver<u64>,
}

impl Subscription {
    /// Waits until there may be new events. Waits for ever when the store is closed. Nothing is lost when the wait is given up.
    pub async fn changed(&mut self) {
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What is announced, as it comes.
#[derive(Debug)]
pub struct Announcements {
    receiver: broadcast::Receiver<Topic>,
}

impl Announcements {
    /// The next one; [`Topic::Missed`] for a listener that was too slow, `None` when the store is closed.
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
    async fn notices_wake_those_who_wait_and_nobody_else() {
        let hub = Hub::default();
        let (mut one, mut other) = (hub.subscribe("a"), hub.subscribe("b"));
        hub.notice(&Notice::Events("a".into(), 3));
        one.changed().await;
        hub.notice(&Notice::Events("a".into(), 2));
        assert!(!one.receiver.has_changed().unwrap() && !other.receiver.has_changed().unwrap());
        hub.missed();
        one.changed().await;
        other.changed().await;
        drop((one, other));
        let _third = hub.subscribe("c");
        assert_eq!(hub.chats.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_slow_listener_is_told_that_it_missed_something() {
        let hub = Hub::default();
        let mut slow = hub.announcements();
        (0..=WAITING_MAX).for_each(|_| hub.notice(&Notice::Topic(Topic::Skills)));
        assert_eq!(slow.next().await, Some(Topic::Missed));
        assert_eq!(slow.next().await, Some(Topic::Skills));
        drop(hub);
        while let Some(topic) = slow.next().await {
            assert_eq!(topic, Topic::Skills);
        }
    }
}
