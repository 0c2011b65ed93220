//! The answers that this process is writing. A turn belongs to the server: it goes on when whoever asked is gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prowess::ErrorCode;
use prowess_chat::Ending;
use prowess_chat::store::{Keeper, Numbered, Past, Store, StoreError, Turn};
use prowess_chat::turn::{Agent, Input};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many events may wait for whoever asked. Who is slower than that reads the rest from the store.
const WAITING_MAX: usize = 256;

/// How often somebody looks whether a turn was stopped elsewhere, while it says nothing by which it would notice.
const LOOK: Duration = Duration::from_secs(2);

/// The turns under way.
#[derive(Default)]
pub(crate) struct Turns {
    running: Mutex<HashMap<String, CancellationToken>>,
    tasks: TaskTracker,
}

/// A turn that was begun, and what happens in it.
pub(crate) struct Started {
    pub(crate) turn: Turn,
    pub(crate) events: mpsc::Receiver<Numbered>,
}

impl Turns {
    /// Keeps a message, and begins to answer it.
    pub(crate) async fn begin(
        self: &Turns,
        shared: &crate::app::App,
        agent: Agent,
        chat: &str,
        text: String,
    ) -> Result<Started, StoreError> {
        let store = Arc::clone(&shared.store);
        let past = Past::of(&*store, chat).await?;
        let (sender, events) = mpsc::channel(WAITING_MAX);
        let tell = move |event| drop(sender.try_send(event));
        let keeper = Keeper::ask(&store, chat, &text, &past, tell).await?;
        let turn = keeper.turn().clone();
        let cancel = CancellationToken::new();
        self.lock().insert(turn.chat.clone(), cancel.clone());
        let (app, begun) = (shared.clone(), turn.clone());
        self.tasks.spawn(async move {
            let watched = noticing(&*app.store, &begun, &cancel);
            tokio::select! {
                () = answer(&agent, keeper, &begun.chat, &past, &text, &cancel) => {}
                () = watched => {}
            }
            app.turns.lock().remove(&begun.chat);
        });
        Ok(Started { turn, events })
    }

    /// Ends a turn of this process; whether there is one.
    pub(crate) fn cancel(&self, chat: &str) -> bool {
        self.lock().get(chat).inspect(|cancel| cancel.cancel()).is_some()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Lets turns finish, for so long; those that do not are ended, with a marker.
    pub(crate) async fn finish(&self, store: &dyn Store, grace: Duration) {
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        let left: Vec<_> = self.lock().drain().collect();
        let marker = Ending::broken(
            ErrorCode::Unavailable,
            "the server was stopped while it answered; this is what was said until then",
        );
        for (chat, cancel) in left {
            if let Err(error) = store.stop(&chat, &marker).await {
                tracing::warn!(chat, %error, "a turn could not be marked");
            }
            cancel.cancel();
        }
        let _ = tokio::time::timeout(grace.max(Duration::from_secs(1)), self.tasks.wait()).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answer<F: FnMut(Numbered) + Send>(
    agent: &Agent,
    mut keeper: Keeper<F>,
    chat: &str,
    past: &Past,
    text: &str,
    cancel: &CancellationToken,
) {
    let input = Input { chat, history: &past.messages, activated: &past.activated, text };
    let outcome = agent.turn(input, &mut keeper, &mut |_| {}, cancel).await;
    match outcome.end {
        Ok(end) => tracing::info!(chat, end = end.as_str(), "turn"),
        Err(error) => tracing::warn!(chat, %error, "turn"),
    }
}

/// Cancels a turn that was stopped through another server. It would notice with its next word; a script may be silent for long.
async fn noticing(store: &dyn Store, turn: &Turn, cancel: &CancellationToken) {
    loop {
        sleep(LOOK).await;
        match store.chat(&turn.chat).await {
            Ok(chat) if chat.writing.as_ref() == Some(&turn.message) => {}
            // It may just have ended by itself: then there is nothing to cancel.
            Ok(_) | Err(StoreError::NoChat) => {
                cancel.cancel();
                return std::future::pending().await;
            }
            Err(_) => {}
        }
    }
}
