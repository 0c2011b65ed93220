//! Writing an answer as it is said: numbered at once, kept in small batches, and kept trying when the store is away.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prowess::ErrorCode;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout_at};

use super::{Numbered, Store, StoreError, Turn, kept};
use crate::{Ending, Event};

/// How long words wait for others before they are written.
const GATHER: Duration = Duration::from_millis(40);

/// How many bytes of words are written without waiting for more.
const BATCH_BYTES: usize = 16 * 1024;

/// How many events may wait to be written before whoever says more has to wait.
const WAITING_MAX: usize = 4_096;

/// How long a store may be away before the turn is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a store that was given up for a turn is tried again, so that what was said is not lost after all.
const AGAIN: Duration = Duration::from_secs(5);

/// The pen of one turn. Every event has its number as soon as it is pushed, so that it can be shown before it is kept, under the
/// number that others will see. Whoever drops it without [`end`](TurnWriter::end) has broken off: the message gets a marker.
pub struct TurnWriter {
    turn: Turn,
    next: u64,
    orders: mpsc::Sender<Order>,
    failed: Arc<OnceLock<StoreError>>,
}

enum Order {
    Keep(Event),
    Now(Due),
}

/// Why it is time to write.
enum Due {
    Batch,
    Flush(oneshot::Sender<()>),
    End(Ending, oneshot::Sender<Numbered>),
}

impl TurnWriter {
    /// Begins to write. It needs a runtime of tokio.
    pub fn new(store: Arc<dyn Store>, turn: Turn) -> Self {
        Self::with_patience(store, turn, PATIENCE)
    }

    /// The same, with another bound on how long the store may be away.
    pub fn with_patience(store: Arc<dyn Store>, turn: Turn, patience: Duration) -> Self {
        let (orders, received) = mpsc::channel(WAITING_MAX);
        let failed = Arc::new(OnceLock::new());
        let desk = Desk {
            store,
            next: turn.first,
            turn: turn.clone(),
            batch: Vec::new(),
            bytes: 0,
            patience,
            failed: failed.clone(),
        };
        tokio::spawn(desk.work(received));
        Self { next: turn.first, turn, orders, failed }
    }

    /// The turn.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Adds an event; what everybody sees of it, with its number. It fails when an earlier event could not be kept: the store is
    /// away for too long, somebody stopped the turn ([`StoreError::Ended`]) or deleted the chat, or too much was said. The turn
    /// is over then.
    pub async fn push(&mut self, event: Event) -> Result<Numbered, StoreError> {
        let event = kept(event);
        self.orders.send(Order::Keep(event.clone())).await.map_err(|_| self.failure())?;
        let seq = self.next;
        self.next += 1;
        Ok(Numbered { seq, event })
    }

    /// Waits until everything that was pushed is kept: before a tool does what cannot be undone.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.orders.send(Order::Now(Due::Flush(reply))).await.map_err(|_| self.failure())?;
        answer.await.map_err(|_| self.failure())
    }

    /// Ends the turn; its last event.
    pub async fn end(self, ending: Ending) -> Result<Numbered, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.orders.send(Order::Now(Due::End(ending, reply))).await.map_err(|_| self.failure())?;
        answer.await.map_err(|_| self.failure())
    }

    fn failure(&self) -> StoreError {
        self.failed.get().cloned().unwrap_or(StoreError::Ended)
    }
}

/// The other side of the pen, a task of its own: a slow disk does not hold up a model.
struct Desk {
    store: Arc<dyn Store>,
    turn: Turn,
    /// The number of the first event of the batch.
    next: u64,
    batch: Vec<Event>,
    bytes: usize,
    patience: Duration,
    failed: Arc<OnceLock<StoreError>>,
}

impl Desk {
    async fn work(mut self, mut orders: mpsc::Receiver<Order>) {
        while let Some(due) = self.gathered(&mut orders).await {
            if let Err(error) = self.write().await {
                drop(due);
                return self.give_up(error, orders).await;
            }
            match due {
                Due::Batch => {}
                // That nobody waits for the answer any more is fine.
                Due::Flush(reply) => drop(reply.send(())),
                Due::End(ending, reply) => match self.end(&ending).await {
                    Ok(last) => return drop(reply.send(last)),
                    Err(error) => {
                        drop(reply);
                        return self.give_up(error, orders).await;
                    }
                },
            }
        }
        // Dropped without an end.
        let broken = Ending::broken(
            ErrorCode::InternalError,
            "the answer broke off; this is what was said until then",
        );
        let written = self.write().await;
        if let Err(error) = match written {
            Ok(()) => self.end(&broken).await.map(drop),
            Err(error) => Err(error),
        } {
            self.give_up(error, orders).await;
        }
    }

    /// Gathers events until it is time to write.
    async fn gathered(&mut self, orders: &mut mpsc::Receiver<Order>) -> Option<Due> {
        let mut until = None;
        loop {
            let order = match until {
                None => orders.recv().await?,
                Some(until) => match timeout_at(until, orders.recv()).await {
                    Ok(order) => order?,
                    Err(_) => return Some(Due::Batch),
                },
            };
            let event = match order {
                Order::Keep(event) => event,
                Order::Now(due) => return Some(due),
            };
            // What is not words is rare and matters: it is written at once.
            let words = match &event {
                Event::Delta { text } => Some(text.len()),
                Event::ToolCall { .. }
                | Event::ToolResult { .. }
                | Event::Done { .. }
                | Event::Error { .. } => None,
            };
            self.batch.push(event);
            self.bytes += words.unwrap_or(BATCH_BYTES);
            if self.bytes >= BATCH_BYTES {
                return Some(Due::Batch);
            }
            until.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        let mut patience = Patience::new(self.patience);
        while let Err(error) = self.try_write().await {
            patience.wait_after(error).await?;
        }
        Ok(())
    }

    async fn try_write(&mut self) -> Result<(), StoreError> {
        if !self.batch.is_empty() {
            self.store.append(&self.turn, self.next, &self.batch).await?;
            self.next += self.batch.len() as u64;
            self.batch.clear();
            self.bytes = 0;
        }
        Ok(())
    }

    async fn end(&self, ending: &Ending) -> Result<Numbered, StoreError> {
        let mut patience = Patience::new(self.patience);
        loop {
            match self.store.end(&self.turn, self.next, ending).await {
                Ok(last) => return Ok(last),
                Err(error) => patience.wait_after(error).await?,
            }
        }
    }

    /// The turn is over for those who wrote it. What was said is still kept as soon as that can be done, with a marker.
    async fn give_up(mut self, error: StoreError, mut orders: mpsc::Receiver<Order>) {
        let marker = Ending::broken(error.code(), error.without_place());
        let is_passing = error.is_passing();
        let _ = self.failed.set(error);
        orders.close();
        // What waits was told to others already, each under its number.
        while let Some(order) = orders.recv().await {
            if let Order::Keep(event) = order {
                self.batch.push(event);
            }
        }
        let end = self.next + self.batch.len() as u64;
        if !is_passing {
            self.batch.clear();
        }
        loop {
            let done = match self.try_write().await {
                Ok(()) => self.store.end(&self.turn, end, &marker).await.map(drop),
                Err(error) => Err(error),
            };
            match done {
                Err(error) if error.is_passing() => sleep(AGAIN).await,
                // Kept; or deleted, or stopped by somebody else.
                Ok(()) | Err(_) => return,
            }
        }
    }
}

/// Waits a little longer each time, up to a bound.
struct Patience {
    until: Instant,
    pause: Duration,
}

impl Patience {
    fn new(patience: Duration) -> Self {
        Self { until: Instant::now() + patience, pause: Duration::from_millis(50) }
    }

    async fn wait_after(&mut self, error: StoreError) -> Result<(), StoreError> {
        if !error.is_passing() || Instant::now() + self.pause > self.until {
            return Err(error);
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_secs(2));
        Ok(())
    }
}
