//! Following a chat from whichever process: what is kept, then what comes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::{Numbered, Store, StoreError, Subscription};

/// How often the store is asked although nobody said that there is anything. It is a safety net: for notices that were lost, and
/// for a file that another process writes to.
const LOOK: Duration = Duration::from_secs(1);

/// What a follower sees.
#[derive(Debug, Clone, PartialEq)]
pub enum Followed {
    /// The next event.
    Event(Numbered),
    /// Some events are not kept any more. Read the chat anew; what comes next comes after it.
    Missed,
}

/// The events of a chat, one after the other, turn after turn.
pub struct Follow {
    store: Arc<dyn Store>,
    chat: String,
    after: u64,
    waiting: VecDeque<Numbered>,
    subscription: Subscription,
    /// Whether events were seen that may not be kept yet.
    ahead: bool,
}

impl Follow {
    /// Begins after the event of this number: the `seq` of a page of messages, or what a client says it saw last.
    pub fn new(store: Arc<dyn Store>, chat: &str, after: u64) -> Self {
        let subscription = store.subscribe(chat);
        Self { store, chat: chat.to_owned(), after, waiting: VecDeque::new(), subscription, ahead: false }
    }

    /// The same for whoever was told of events by the one who writes them, as they happened: the store may not have them yet, and
    /// is waited for.
    pub fn ahead(store: Arc<dyn Store>, chat: &str, after: u64) -> Self {
        Self { ahead: true, ..Self::new(store, chat, after) }
    }

    /// Waits for the next event, for as long as it takes. It fails when the chat is deleted or the store does not answer, and may
    /// be called again. Nothing is lost when the wait is given up.
    pub async fn next(&mut self) -> Result<Followed, StoreError> {
        loop {
            if let Some(next) = self.waiting.pop_front() {
                self.after = next.seq;
                return Ok(Followed::Event(next));
            }
            let found = self.store.events_after(&self.chat, self.after).await?;
            let is_behind = self.ahead && found.last < self.after;
            if found.missed && !is_behind {
                self.after = found.last;
                return Ok(Followed::Missed);
            }
            self.waiting.extend(found.events);
            if self.waiting.is_empty() {
                // Whether it was told or looks by itself comes to the same.
                let _ = tokio::time::timeout(LOOK, self.subscription.changed()).await;
            }
        }
    }
}
