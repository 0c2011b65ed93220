//! Progress and cancellation of a task.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A task, shared by the thread that runs it and the threads that wait for it.
#[derive(Debug, Default)]
pub struct Task {
    cancelled: Arc<AtomicBool>,
    step: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
}

/// The task was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Task {
    /// Returns the flag that cancels the task when set, for signal handlers.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Cancels the task.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns an error if the task was cancelled. Loops call this in each iteration.
    pub fn check_cancelled(&self) -> Result<(), Cancelled> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }

    /// Begins a step, such as "receiving"; `total` is the amount of work, or 0 if it is unknown.
    pub fn begin_step(&self, name: &str, total: u64) {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = name.to_owned();
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Adds to the completed amount of the step.
    pub fn advance(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the step, the completed amount and the total amount.
    pub fn progress(&self) -> (String, u64, u64) {
        let step = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (step, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}
