//! The answers that this process is writing. A turn belongs to the server: it goes on when whoever asked is gone.
//!
//! What must always hold: whatever was begun in the store is answered or marked, whoever goes away meanwhile; and of two turns in
//! a chat, one right after the other, neither is taken for the other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use prowess::ErrorCode;
use prowess_chat::store::{Keeper, Numbered, Past, Store, StoreError, Turn};
use prowess_chat::turn::{Agent, Input};
use prowess_chat::{End, Ending};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::limits::{Place, Room};
use crate::metrics::Metrics;
use crate::problem::Problem;

/// The target of lines in the log, which operators filter by.
const LOG: &str = "prowess_server::chats::turns";

/// How many events may wait for whoever asked. Who is slower than that reads the rest from the store.
const WAITING_MAX: usize = 256;

/// How often somebody looks whether a turn was stopped elsewhere, while it says nothing by which it would notice.
const LOOK: Duration = Duration::from_secs(2);

/// How long a turn that is stopped may take to come to its own end, before it is given one.
const STOPPING: Duration = Duration::from_secs(5);

/// How long the marking of turns may take when the server ends and the store does not answer.
const MARKING: Duration = Duration::from_secs(5);

/// The turns under way.
pub(crate) struct Turns {
    under_way: Arc<UnderWay>,
    tasks: TaskTracker,
    /// How many there may be.
    pub(crate) room: Room,
}

/// What the tasks of all turns share.
struct UnderWay {
    running: Mutex<HashMap<String, Running>>,
    /// Ends all of them.
    ending: CancellationToken,
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
}

/// A turn of this process.
struct Running {
    message: String,
    cancel: CancellationToken,
    /// Cancelled when nothing of it is left.
    over: CancellationToken,
}

/// A turn that was begun, and what happens in it.
pub(crate) struct Started {
    pub(crate) turn: Turn,
    pub(crate) events: mpsc::Receiver<Numbered>,
}

impl Turns {
    /// None yet, and so many at most.
    pub(crate) fn new(most: usize, store: Arc<dyn Store>, metrics: Arc<Metrics>) -> Self {
        let (running, ending) = (Mutex::default(), CancellationToken::new());
        let under_way = Arc::new(UnderWay { running, ending, store, metrics });
        Self { under_way, tasks: TaskTracker::new(), room: Room::new("answers", most) }
    }

    /// Keeps a message, and begins to answer it.
    pub(crate) async fn begin(
        &self,
        agent: Agent,
        chat: String,
        text: String,
        replaces: Option<String>,
    ) -> Result<Started, Problem> {
        // Counted first and looked then: whoever waits for the last one waits for this one, too, or it is not begun.
        let _counted = self.tasks.token();
        if self.tasks.is_closed() {
            return Err(Problem::new(ErrorCode::Unavailable, "the server is being stopped"));
        }
        let place = self.room.enter()?;
        let (tell, told) = oneshot::channel();
        // Whoever asks may be gone at any moment. What the store has begun by then has to be answered all the same.
        self.tasks.spawn(whole(
            Arc::clone(&self.under_way),
            agent,
            chat,
            Asked { text, replaces },
            place,
            tell,
        ));
        match told.await {
            Ok(begun) => begun.map_err(Problem::from),
            Err(_) => Err(StoreError::Internal("the turn failed before it began".to_owned()).into()),
        }
    }

    /// Stops the answer in a chat, whichever process writes it; whether there was one. When this returns, the next can begin.
    pub(crate) async fn stop(&self, store: &dyn Store, chat: &str) -> Result<bool, StoreError> {
        let Some(message) = store.chat(chat).await?.writing else { return Ok(false) };
        // A turn of our own ends by itself, and then says what it has cost.
        if let Some(over) = self.cancel(chat, Some(&message))
            && timeout(STOPPING, over.cancelled()).await.is_ok()
        {
            return Ok(true);
        }
        store.stop(chat, &Ending::finished(End::Cancelled, None)).await
    }

    /// Cancels the turn of this process in a chat, if it writes this message; what tells that it is over.
    pub(crate) fn cancel(&self, chat: &str, message: Option<&str>) -> Option<CancellationToken> {
        let running = self.under_way.lock();
        let turn = running.get(chat).filter(|turn| message.is_none_or(|message| turn.message == message))?;
        turn.cancel.cancel();
        Some(turn.over.clone())
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.under_way.lock().len()
    }

    /// Lets turns finish, for so long; those that do not are ended, with a marker. None is begun any more.
    pub(crate) async fn finish(&self, store: &dyn Store, grace: Duration) {
        self.tasks.close();
        if timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        let running = |(chat, turn): (&String, &Running)| (chat.clone(), turn.message.clone());
        let left: Vec<(String, String)> = self.under_way.lock().iter().map(running).collect();
        let marked = join_all(left.iter().map(|(chat, message)| mark(store, chat, message)));
        if timeout(MARKING, marked).await.is_err() {
            tracing::warn!(target: LOG, "the store does not answer; others will mark what was being written");
        }
        self.under_way.ending.cancel();
        let _ = timeout(grace.max(Duration::from_secs(1)), self.tasks.wait()).await;
    }
}

impl UnderWay {
    /// A turn is under way until what this gives is dropped.
    fn enter(self: &Arc<Self>, turn: &Turn) -> Entered {
        let (cancel, over) = (self.ending.child_token(), CancellationToken::new());
        let running = Running { message: turn.message.clone(), cancel: cancel.clone(), over };
        if let Some(before) = self.lock().insert(turn.chat.clone(), running) {
            before.over.cancel();
        }
        Entered { under_way: Arc::clone(self), turn: turn.clone(), cancel }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a turn among those under way. It is given back in whatever way the turn ends.
struct Entered {
    under_way: Arc<UnderWay>,
    turn: Turn,
    cancel: CancellationToken,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut running = self.under_way.lock();
        // The next turn of the chat may have taken the place already: it can begin as soon as the end of this one is kept.
        if running.get(&self.turn.chat).is_some_and(|turn| turn.message == self.turn.message)
            && let Some(turn) = running.remove(&self.turn.chat)
        {
            turn.over.cancel();
        }
    }
}

async fn mark(store: &dyn Store, chat: &str, message: &str) {
    let marker = Ending::broken(
        ErrorCode::Unavailable,
        "the server was stopped while it answered; this is what was said until then",
    );
    let marked = match store.chat(chat).await {
        Ok(now) if now.writing.as_deref() == Some(message) => store.stop(chat, &marker).await.map(drop),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = marked {
        tracing::warn!(target: LOG, chat, %error, "a turn could not be marked");
    }
}

/// What a person says.
struct Asked {
    text: String,
    /// The message that it takes the place of.
    replaces: Option<String>,
}

/// A turn from its first word to its last, on a task of its own.
async fn whole(
    under_way: Arc<UnderWay>,
    agent: Agent,
    chat: String,
    Asked { text, replaces }: Asked,
    _place: Place,
    tell: oneshot::Sender<Result<Started, StoreError>>,
) {
    let UnderWay { store, metrics, .. } = &*under_way;
    let (sender, events) = mpsc::channel(WAITING_MAX);
    let spoke = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&spoke);
    let told = move |event| {
        heard.store(true, Ordering::Relaxed);
        drop(sender.try_send(event));
    };
    let begun = async {
        let past = Past::of(&**store, &chat).await?;
        let Some(message) = &replaces else {
            let keeper = Keeper::ask(store, &chat, &text, &past, told).await?;
            return Ok((past, keeper));
        };
        let past = past.before(message);
        let keeper = Keeper::ask_instead(store, &chat, &text, message, &past, told).await?;
        Ok((past, keeper))
    };
    let (past, mut keeper) = match begun.await {
        Ok(begun) => begun,
        Err(error) => return drop(tell.send(Err(error))),
    };
    let turn = keeper.turn().clone();
    let entered = under_way.enter(&turn);
    // That nobody listens any more is fine.
    let _ = tell.send(Ok(Started { turn: turn.clone(), events }));
    let input = Input { chat: &chat, history: &past.messages, activated: &past.activated, text: &text };
    let mut heard = |event| metrics.happened(&event);
    let outcome = tokio::select! {
        outcome = agent.turn(input, &mut keeper, &mut heard, &entered.cancel) => outcome,
        never = noticing(&**store, &turn, &entered.cancel, &spoke) => match never {},
    };
    metrics.ended(&outcome);
    match outcome.end {
        Ok(end) => tracing::info!(target: LOG, chat, end = end.as_str(), "turn"),
        Err(error) => tracing::warn!(target: LOG, chat, %error, "turn"),
    }
}

/// Cancels a turn that was stopped through another server. It would notice with its next word; a script may be silent for long.
async fn noticing(
    store: &dyn Store,
    turn: &Turn,
    cancel: &CancellationToken,
    spoke: &AtomicBool,
) -> std::convert::Infallible {
    loop {
        sleep(LOOK).await;
        if spoke.swap(false, Ordering::Relaxed) {
            continue;
        }
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
