//! Writes a turn as it happens: events are numbered at once, stored in small batches, and retried if the store fails.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prowess::ErrorCode;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout_at};

use super::{NumberedEvent, Store, StoreError, StoredTurn, to_stored_event};
use crate::{ThinkingSeal, TurnEvent, TurnOutcome};

/// How long text waits for more before it is written.
const BATCH_DELAY: Duration = Duration::from_millis(40);

/// How many bytes of text are written without waiting for more.
const BATCH_BYTES: usize = 16 * 1024;

/// How many events may be queued before [`TurnWriter::push`] waits.
const QUEUE_MAX: usize = 4_096;

/// How long a store may be unavailable before the turn fails.
const STORE_TIMEOUT: Duration = Duration::from_secs(120);

/// How often the store is retried after the turn failed, to save the text.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Writes a turn. Every event gets its number when it is pushed, so it can be shown before it is stored. Dropping the
/// writer without [`end`](TurnWriter::end) marks the message as interrupted.
pub struct TurnWriter {
    turn: StoredTurn,
    next: u64,
    commands: mpsc::Sender<WriterCommand>,
    failure: Arc<OnceLock<StoreError>>,
}

enum WriterCommand {
    Store(TurnEvent),
    Write(WriteReason),
}

/// Why to write now.
enum WriteReason {
    Batch,
    Flush(oneshot::Sender<()>),
    End(TurnOutcome, oneshot::Sender<NumberedEvent>),
}

impl TurnWriter {
    /// Starts the writer. Requires a tokio runtime.
    pub fn new(store: Arc<dyn Store>, turn: StoredTurn) -> Self {
        Self::with_timeout(store, turn, STORE_TIMEOUT)
    }

    /// [`new`](Self::new) with a custom limit on how long the store may be unavailable.
    pub fn with_timeout(store: Arc<dyn Store>, turn: StoredTurn, timeout: Duration) -> Self {
        let (commands, received) = mpsc::channel(QUEUE_MAX);
        let failure = Arc::new(OnceLock::new());
        let task = WriterTask {
            store,
            next: turn.first,
            turn: turn.clone(),
            batch: Vec::new(),
            bytes: 0,
            timeout,
            failure: failure.clone(),
        };
        tokio::spawn(task.run(received));
        Self { next: turn.first, turn, commands, failure }
    }

    /// Returns the turn.
    pub fn turn(&self) -> &StoredTurn {
        &self.turn
    }

    /// Adds an event and returns its stored form with its number. Fails if an earlier event could not be stored: the store
    /// was unavailable for too long, the turn was stopped ([`StoreError::TurnEnded`]), the chat was deleted, or the turn is
    /// too large. The turn is over then.
    pub async fn push(&mut self, event: TurnEvent) -> Result<NumberedEvent, StoreError> {
        let event = to_stored_event(event);
        self.commands.send(WriterCommand::Store(event.clone())).await.map_err(|_| self.failure())?;
        let seq = self.next;
        self.next += 1;
        Ok(NumberedEvent { seq, event })
    }

    /// Waits until all pushed events are stored, before a tool has effects that cannot be undone.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let (reply, receiver) = oneshot::channel();
        self.commands
            .send(WriterCommand::Write(WriteReason::Flush(reply)))
            .await
            .map_err(|_| self.failure())?;
        receiver.await.map_err(|_| self.failure())
    }

    /// Ends the turn and returns its last event.
    pub async fn end(self, outcome: TurnOutcome) -> Result<NumberedEvent, StoreError> {
        let (reply, receiver) = oneshot::channel();
        self.commands
            .send(WriterCommand::Write(WriteReason::End(outcome, reply)))
            .await
            .map_err(|_| self.failure())?;
        receiver.await.map_err(|_| self.failure())
    }

    fn failure(&self) -> StoreError {
        self.failure.get().cloned().unwrap_or(StoreError::TurnEnded)
    }
}

/// The background task of a [`TurnWriter`]: a slow disk does not delay the model.
struct WriterTask {
    store: Arc<dyn Store>,
    turn: StoredTurn,
    /// The number of the first event of the batch.
    next: u64,
    batch: Vec<TurnEvent>,
    bytes: usize,
    timeout: Duration,
    failure: Arc<OnceLock<StoreError>>,
}

impl WriterTask {
    async fn run(mut self, mut commands: mpsc::Receiver<WriterCommand>) {
        while let Some(reason) = self.next_batch(&mut commands).await {
            if let Err(error) = self.write().await {
                drop(reason);
                return self.give_up(error, commands).await;
            }
            match reason {
                WriteReason::Batch => {}
                // An error means that the caller no longer waits.
                WriteReason::Flush(reply) => drop(reply.send(())),
                WriteReason::End(outcome, reply) => match self.end(&outcome).await {
                    Ok(last) => return drop(reply.send(last)),
                    Err(error) => {
                        drop(reply);
                        return self.give_up(error, commands).await;
                    }
                },
            }
        }
        // The writer was dropped without an end.
        let interrupted = TurnOutcome::failed(
            ErrorCode::InternalError,
            "the reply was interrupted; this is the text up to that point",
        );
        let result = self.write().await;
        if let Err(error) = match result {
            Ok(()) => self.end(&interrupted).await.map(drop),
            Err(error) => Err(error),
        } {
            self.give_up(error, commands).await;
        }
    }

    /// Collects events until it is time to write.
    async fn next_batch(&mut self, commands: &mut mpsc::Receiver<WriterCommand>) -> Option<WriteReason> {
        let mut deadline = None;
        loop {
            let command = match deadline {
                None => commands.recv().await?,
                Some(deadline) => match timeout_at(deadline, commands.recv()).await {
                    Ok(command) => command?,
                    Err(_) => return Some(WriteReason::Batch),
                },
            };
            let event = match command {
                WriterCommand::Store(event) => event,
                WriterCommand::Write(reason) => return Some(reason),
            };
            // Events other than text are rare and important, so they are written at once.
            let text_len = match &event {
                TurnEvent::Delta { text } => Some(text.len()),
                TurnEvent::Thinking { text, seal } => {
                    Some(text.len() + seal.as_ref().map_or(0, ThinkingSeal::size))
                }
                TurnEvent::ToolCall { .. }
                | TurnEvent::Summary { .. }
                | TurnEvent::Waiting { .. }
                | TurnEvent::ToolsDisabled { .. }
                | TurnEvent::Consent { .. }
                | TurnEvent::ToolResult { .. }
                | TurnEvent::Done { .. }
                | TurnEvent::Error { .. } => None,
            };
            self.batch.push(event);
            self.bytes += text_len.unwrap_or(BATCH_BYTES);
            if self.bytes >= BATCH_BYTES {
                return Some(WriteReason::Batch);
            }
            deadline.get_or_insert_with(|| Instant::now() + BATCH_DELAY);
        }
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        let mut retry = RetryTimer::new(self.timeout);
        while let Err(error) = self.try_write().await {
            retry.wait_after(error).await?;
        }
        Ok(())
    }

    async fn try_write(&mut self) -> Result<(), StoreError> {
        if !self.batch.is_empty() {
            self.store.append_events(&self.turn, self.next, &self.batch).await?;
            self.next += self.batch.len() as u64;
            self.batch.clear();
            self.bytes = 0;
        }
        Ok(())
    }

    async fn end(&self, outcome: &TurnOutcome) -> Result<NumberedEvent, StoreError> {
        let mut retry = RetryTimer::new(self.timeout);
        loop {
            match self.store.end(&self.turn, self.next, outcome).await {
                Ok(last) => return Ok(last),
                Err(error) => retry.wait_after(error).await?,
            }
        }
    }

    /// Fails the turn, then stores the text as soon as possible and marks the message as interrupted.
    async fn give_up(mut self, error: StoreError, mut commands: mpsc::Receiver<WriterCommand>) {
        let marker = TurnOutcome::failed(error.code(), error.public_message());
        let is_retryable = error.is_retryable();
        let _ = self.failure.set(error);
        commands.close();
        // Queued events were already shown under their numbers.
        while let Some(command) = commands.recv().await {
            if let WriterCommand::Store(event) = command {
                self.batch.push(event);
            }
        }
        let end = self.next + self.batch.len() as u64;
        if !is_retryable {
            self.batch.clear();
        }
        loop {
            let result = match self.try_write().await {
                Ok(()) => self.store.end(&self.turn, end, &marker).await.map(drop),
                Err(error) => Err(error),
            };
            match result {
                Err(error) if error.is_retryable() => sleep(RETRY_INTERVAL).await,
                // The text is stored, or the chat was deleted, or another process stopped the turn.
                Ok(()) | Err(_) => return,
            }
        }
    }
}

/// A retry loop with increasing pauses and a deadline.
struct RetryTimer {
    deadline: Instant,
    pause: Duration,
}

impl RetryTimer {
    fn new(timeout: Duration) -> Self {
        Self { deadline: Instant::now() + timeout, pause: Duration::from_millis(50) }
    }

    async fn wait_after(&mut self, error: StoreError) -> Result<(), StoreError> {
        if !error.is_retryable() || Instant::now() + self.pause > self.deadline {
            return Err(error);
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_secs(2));
        Ok(())
    }
}
