//! Follows the events of a chat, from any process.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::{NumberedEvent, Store, StoreError, Subscription};

/// How often the store is polled without a notification. This covers lost notifications, and files that another process
/// writes to.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// An item of a followed chat.
#[derive(Debug, Clone, PartialEq)]
pub enum FollowedEvent {
    /// The next event.
    Event(NumberedEvent),
    /// Some events are no longer stored. Read the chat again; the next event follows that state.
    Missed,
}

/// A stream of the events of a chat.
pub struct ChatFollower {
    store: Arc<dyn Store>,
    chat: String,
    after: u64,
    buffered: VecDeque<NumberedEvent>,
    subscription: Subscription,
    /// Whether events were seen that may not be stored yet.
    ahead: bool,
}

impl ChatFollower {
    /// Starts after this event: the `seq` of a page of messages, or the last event that a client saw.
    pub fn new(store: Arc<dyn Store>, chat: &str, after: u64) -> Self {
        let subscription = store.subscribe(chat);
        Self { store, chat: chat.to_owned(), after, buffered: VecDeque::new(), subscription, ahead: false }
    }

    /// [`new`](Self::new) for a caller that received events directly from the writer. If the store does not have them yet,
    /// the follower waits for it.
    pub fn new_ahead(store: Arc<dyn Store>, chat: &str, after: u64) -> Self {
        Self { ahead: true, ..Self::new(store, chat, after) }
    }

    /// Waits for the next event. Fails if the chat is deleted or the store does not respond, and may be called again.
    /// Cancel safe.
    pub async fn next(&mut self) -> Result<FollowedEvent, StoreError> {
        loop {
            if let Some(next) = self.buffered.pop_front() {
                self.after = next.seq;
                return Ok(FollowedEvent::Event(next.without_seal()));
            }
            let page = self.store.events_after(&self.chat, self.after).await?;
            let is_behind = self.ahead && page.last < self.after;
            if page.missed && !is_behind {
                self.after = page.last;
                return Ok(FollowedEvent::Missed);
            }
            self.buffered.extend(page.events);
            if self.buffered.is_empty() {
                // A notification and a timeout have the same effect.
                let _ = tokio::time::timeout(POLL_INTERVAL, self.subscription.changed()).await;
            }
        }
    }
}
