//! Decides when a running engine must stop, and why.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use prowess_sandbox::Cancel;

/// Why an engine was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopCause {
    /// The time limit was exceeded.
    Time,
    /// The call was cancelled.
    Cancelled,
}

/// The state that the engine's interrupt handler checks.
#[derive(Debug)]
pub(super) struct ExecutionWatch {
    deadline: Cell<Instant>,
    grace: Duration,
    cancel: RefCell<Cancel>,
    /// When the cancellation was first seen.
    cancelled: Cell<Option<Instant>>,
    stopped: Cell<Option<StopCause>>,
}

impl ExecutionWatch {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            deadline: Cell::new(Instant::now()),
            grace,
            cancel: RefCell::default(),
            cancelled: Cell::default(),
            stopped: Cell::default(),
        }
    }

    /// Starts a load or a call.
    pub(super) fn begin(&self, time: Duration, cancel: Cancel) {
        let now = Instant::now();
        self.deadline.set(now.checked_add(time).unwrap_or(now));
        self.cancel.replace(cancel);
        self.cancelled.set(None);
        self.stopped.set(None);
    }

    /// Returns `true` if the engine must stop now. Once `true`, it stays so until the next `begin`.
    pub(super) fn must_stop(&self) -> bool {
        if self.stopped.get().is_some() {
            return true;
        }
        let now = Instant::now();
        if now >= self.deadline.get() {
            self.stopped.set(Some(StopCause::Time));
        } else if self.is_cancelled() {
            let cancelled_at = self.cancelled.get().unwrap_or(now);
            self.cancelled.set(Some(cancelled_at));
            if now.duration_since(cancelled_at) >= self.grace {
                self.stopped.set(Some(StopCause::Cancelled));
            }
        }
        self.stopped.get().is_some()
    }

    /// Returns `true` if the call was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.borrow().is_cancelled()
    }

    /// Returns why the engine was stopped.
    pub(super) fn stopped(&self) -> Option<StopCause> {
        self.stopped.get()
    }
}
