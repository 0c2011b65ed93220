//! The turns that this process runs. A turn belongs to the server: it continues if the client disconnects.
//!
//! Invariants: every turn that was started in the store is finished or marked, even if the client disconnects; and two consecutive
//! turns of a chat are never confused.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use prowess::ErrorCode;
use prowess_chat::store::{
    self, ChatWorkspace, NumberedEvent, Store, StoreError, StoreRecorder, StoredTurn, TurnStart, UserMessage,
};
use prowess_chat::turn::{Agent, TurnInput};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_config::ChatFileLimits;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::limits::{ConcurrencyLimit, ConcurrencyPermit};
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::questions::ChatConsent;

/// The log target, which operators filter by.
const LOG: &str = "prowess_server::chats::turns";

/// The number of events buffered for the client. A slower client reads the rest from the store.
const EVENT_BUFFER: usize = 256;

/// How often a silent turn checks whether another server stopped it.
const STOP_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How long a stopped turn may take to end by itself.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How long marking interrupted turns may take at shutdown if the store does not respond.
const MARK_TIMEOUT: Duration = Duration::from_secs(5);

/// The running turns of this process.
pub(crate) struct Turns {
    shared: Arc<SharedTurns>,
    tasks: TaskTracker,
    /// Limits the number of concurrent turns.
    pub(crate) limit: ConcurrencyLimit,
}

/// State shared by the tasks of all turns.
struct SharedTurns {
    running: Mutex<HashMap<String, RunningTurn>>,
    /// Cancels all turns.
    ending: CancellationToken,
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
    /// Whether administrators may decide that scripts run.
    ask_consent: bool,
}

/// A turn that this process runs.
struct RunningTurn {
    message: String,
    cancel: CancellationToken,
    /// Cancelled when the turn has ended completely.
    ended: CancellationToken,
}

/// A turn that was started, with its events.
pub(crate) struct StartedTurn {
    pub(crate) turn: StoredTurn,
    pub(crate) events: mpsc::Receiver<NumberedEvent>,
}

impl Turns {
    /// Creates an empty table for at most `max` concurrent turns.
    pub(crate) fn new(max: usize, store: Arc<dyn Store>, metrics: Arc<Metrics>, ask_consent: bool) -> Self {
        let (running, ending) = (Mutex::default(), CancellationToken::new());
        let shared = Arc::new(SharedTurns { running, ending, store, metrics, ask_consent });
        Self { shared, tasks: TaskTracker::new(), limit: ConcurrencyLimit::new("turns", max) }
    }

    /// Returns whether administrators of this server may decide that scripts run.
    pub(crate) fn asks_consent(&self) -> bool {
        self.shared.ask_consent
    }

    /// Stores a message and starts a turn that answers it.
    pub(crate) async fn begin(
        &self,
        agent: Agent,
        chat: String,
        request: TurnRequest,
    ) -> Result<StartedTurn, Problem> {
        // The token is taken before the check: a shutdown either waits for this call or is seen by the check.
        let _counted = self.tasks.token();
        if self.tasks.is_closed() {
            return Err(Problem::new(ErrorCode::Unavailable, "the server is stopping"));
        }
        let permit = self.limit.acquire()?;
        let (sender, started) = oneshot::channel();
        // The client may disconnect at any time. A turn that was started in the store must run anyway, so it has its own task.
        self.tasks.spawn(run_turn(Arc::clone(&self.shared), agent, chat, request, permit, sender));
        match started.await {
            Ok(started) => started.map_err(Problem::from),
            Err(_) => Err(StoreError::Internal("the turn failed before it started".to_owned()).into()),
        }
    }

    /// Stops the running turn of a chat, in whichever process it runs. Returns whether there was one. Afterwards the next turn can
    /// start.
    pub(crate) async fn stop(&self, store: &dyn Store, chat: &str) -> Result<bool, StoreError> {
        let Some(message) = store.chat(chat).await?.writing else { return Ok(false) };
        // A turn of this process ends by itself and reports its token usage.
        if let Some(ended) = self.cancel(chat, Some(&message))
            && timeout(STOP_TIMEOUT, ended.cancelled()).await.is_ok()
        {
            return Ok(true);
        }
        store.stop_turn(chat, &TurnOutcome::finished(EndReason::Cancelled, None)).await
    }

    /// Cancels the turn of this process in a chat, if it writes this message. Returns a token that is cancelled when it has ended.
    pub(crate) fn cancel(&self, chat: &str, message: Option<&str>) -> Option<CancellationToken> {
        let running = self.shared.lock();
        let turn = running.get(chat).filter(|turn| message.is_none_or(|message| turn.message == message))?;
        turn.cancel.cancel();
        Some(turn.ended.clone())
    }

    /// Returns the number of running turns.
    pub(crate) fn count(&self) -> usize {
        self.shared.lock().len()
    }

    /// Waits up to `grace` for turns to finish, then marks and cancels the rest. No turn can start afterwards.
    pub(crate) async fn finish(&self, store: &dyn Store, grace: Duration) {
        self.tasks.close();
        if timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        let running = |(chat, turn): (&String, &RunningTurn)| (chat.clone(), turn.message.clone());
        let unfinished: Vec<(String, String)> = self.shared.lock().iter().map(running).collect();
        let marking =
            join_all(unfinished.iter().map(|(chat, message)| mark_interrupted(store, chat, message)));
        if timeout(MARK_TIMEOUT, marking).await.is_err() {
            tracing::warn!(target: LOG, "the store does not respond; other servers will mark the interrupted turns");
        }
        self.shared.ending.cancel();
        let _ = timeout(grace.max(Duration::from_secs(1)), self.tasks.wait()).await;
    }
}

impl SharedTurns {
    /// Registers a turn until the returned guard is dropped.
    fn register(self: &Arc<Self>, turn: &StoredTurn) -> TurnRegistration {
        let (cancel, ended) = (self.ending.child_token(), CancellationToken::new());
        let running = RunningTurn { message: turn.message.clone(), cancel: cancel.clone(), ended };
        if let Some(previous) = self.lock().insert(turn.chat.clone(), running) {
            previous.ended.cancel();
        }
        TurnRegistration { shared: Arc::clone(self), turn: turn.clone(), cancel }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunningTurn>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The registration of a running turn, removed on drop.
struct TurnRegistration {
    shared: Arc<SharedTurns>,
    turn: StoredTurn,
    cancel: CancellationToken,
}

impl Drop for TurnRegistration {
    fn drop(&mut self) {
        let mut running = self.shared.lock();
        // The next turn of the chat may be registered already: it can start as soon as the end of this one is stored.
        if running.get(&self.turn.chat).is_some_and(|turn| turn.message == self.turn.message)
            && let Some(turn) = running.remove(&self.turn.chat)
        {
            turn.ended.cancel();
        }
    }
}

async fn mark_interrupted(store: &dyn Store, chat: &str, message: &str) {
    let marker =
        TurnOutcome::failed(ErrorCode::Unavailable, "the server stopped before the reply was complete");
    let marked = match store.chat(chat).await {
        Ok(current) if current.writing.as_deref() == Some(message) => {
            store.stop_turn(chat, &marker).await.map(drop)
        }
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = marked {
        tracing::warn!(target: LOG, chat, %error, "cannot mark an interrupted turn");
    }
}

/// What a turn answers.
pub(crate) enum TurnSource {
    /// A message, which may replace one with this id.
    Message { text: String, files: Vec<String>, replaces: Option<String> },
    /// The message that the reply with this id answers.
    Reply(String),
}

impl TurnSource {
    fn start(&self) -> TurnStart<'_> {
        match self {
            Self::Message { text, files, replaces } => {
                let message = UserMessage { text, files };
                replaces.as_deref().map_or(TurnStart::Ask(message), |id| TurnStart::Replace(message, id))
            }
            Self::Reply(reply) => TurnStart::Regenerate(reply),
        }
    }
}

/// A turn to start.
pub(crate) struct TurnRequest {
    pub(crate) source: TurnSource,
    /// The limits of the files that scripts write.
    pub(crate) file_limits: ChatFileLimits,
    /// Whether to ask if a script may run; only if the sender of the message may decide that.
    pub(crate) ask_consent: bool,
}

/// Runs a turn from start to end, in its own task.
async fn run_turn(
    shared: Arc<SharedTurns>,
    agent: Agent,
    chat: String,
    TurnRequest { source, file_limits, ask_consent }: TurnRequest,
    _permit: ConcurrencyPermit,
    started: oneshot::Sender<Result<StartedTurn, StoreError>>,
) {
    let SharedTurns { store, metrics, .. } = &*shared;
    let (sender, events) = mpsc::channel(EVENT_BUFFER);
    let active = Arc::new(AtomicBool::new(false));
    let active_flag = Arc::clone(&active);
    let on_event = move |event| {
        active_flag.store(true, Ordering::Relaxed);
        drop(sender.try_send(event));
    };
    let open = match StoreRecorder::begin(store, &chat, source.start(), on_event).await {
        Ok(open) => open,
        Err(error) => return drop(started.send(Err(error))),
    };
    let store::StartedTurn { history, text, files, mut recorder } = open;
    let turn = recorder.turn().clone();
    let registration = shared.register(&turn);
    // The client may have disconnected.
    let _ = started.send(Ok(StartedTurn { turn: turn.clone(), events }));
    let consent = ask_consent.then(|| ChatConsent::connect(store, &turn));
    let input = TurnInput {
        chat: &chat,
        history: &history.messages,
        activated: &history.activated,
        text: &text,
        attached: &files,
        workspace: Some(&ChatWorkspace::open(store, &chat, file_limits)),
        consent: consent.as_ref(),
    };
    let mut count = |event| metrics.record_event(&event);
    let outcome = tokio::select! {
        outcome = agent.turn(input, &mut recorder, &mut count, &registration.cancel) => outcome,
        never = cancel_if_stopped(&**store, &turn, &registration.cancel, &active) => match never {},
    };
    metrics.record_turn(&outcome);
    match outcome.end {
        Ok(end) => tracing::info!(target: LOG, chat, end = end.as_str(), "turn"),
        Err(error) => tracing::warn!(target: LOG, chat, %error, "turn"),
    }
}

/// Cancels a turn that another server stopped. A turn also notices that with its next event, but a script may be silent for long.
async fn cancel_if_stopped(
    store: &dyn Store,
    turn: &StoredTurn,
    cancel: &CancellationToken,
    active: &AtomicBool,
) -> std::convert::Infallible {
    loop {
        sleep(STOP_POLL_INTERVAL).await;
        if active.swap(false, Ordering::Relaxed) {
            continue;
        }
        match store.chat(&turn.chat).await {
            Ok(chat) if chat.writing.as_ref() == Some(&turn.message) => {}
            // If the turn has just ended by itself, this has no effect.
            Ok(_) | Err(StoreError::ChatNotFound) => {
                cancel.cancel();
                return std::future::pending().await;
            }
            Err(_) => {}
        }
    }
}
