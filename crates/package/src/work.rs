//! How far a piece of work is, and whether anybody still wants it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Shared by whoever works and whoever waits.
#[derive(Debug, Default)]
pub struct Work {
    cancelled: Arc<AtomicBool>,
    step: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
}

/// Nobody wants the result any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Work {
    /// The flag that ends the work when it is set, for a signal handler to hold.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Asks the work to end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether to go on. Whoever loops asks this in each round.
    pub fn go_on(&self) -> Result<(), Cancelled> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }

    /// Begins a step, such as "receiving"; `total` is how much there is to do, or 0 where nobody knows.
    pub fn step(&self, name: &str, total: u64) {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = name.to_owned();
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Counts what is done of the step.
    pub fn add(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// The step, how much of it is done, and of how much.
    pub fn state(&self) -> (String, u64, u64) {
        let step = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (step, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}
