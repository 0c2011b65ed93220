//! The watch over a running engine: when it has to stop, and why.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use super::limits::Cancel;

/// Why an engine was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its time was over.
    Time,
    /// Nobody waits for it.
    Cancelled,
}

/// What the engine asks again and again while it runs.
#[derive(Debug)]
pub(super) struct Watch {
    deadline: Cell<Instant>,
    grace: Duration,
    cancel: RefCell<Cancel>,
    /// When the cancelling was first seen.
    cancelled: Cell<Option<Instant>>,
    stopped: Cell<Option<Stop>>,
}

impl Watch {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            deadline: Cell::new(Instant::now()),
            grace,
            cancel: RefCell::default(),
            cancelled: Cell::default(),
            stopped: Cell::default(),
        }
    }

    /// Begins a piece of work.
    pub(super) fn begin(&self, time: Duration, cancel: Cancel) {
        let now = Instant::now();
        self.deadline.set(now.checked_add(time).unwrap_or(now));
        self.cancel.replace(cancel);
        self.cancelled.set(None);
        self.stopped.set(None);
    }

    /// Whether the work has to stop now. Once it has, it stays so.
    pub(super) fn is_over(&self) -> bool {
        if self.stopped.get().is_some() {
            return true;
        }
        let now = Instant::now();
        if now >= self.deadline.get() {
            self.stopped.set(Some(Stop::Time));
        } else if self.is_cancelled() {
            let since = self.cancelled.get().unwrap_or(now);
            self.cancelled.set(Some(since));
            if now.duration_since(since) >= self.grace {
                self.stopped.set(Some(Stop::Cancelled));
            }
        }
        self.stopped.get().is_some()
    }

    /// Whether the work was asked to end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.borrow().is_cancelled()
    }

    /// Why it was stopped, if it was.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stopped.get()
    }
}
