//! Counts what is unpacked of a pack while it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gix_utils::progress::{
    Count, Id, MessageLevel, NestedProgress, Progress, Step, StepShared, UNKNOWN, Unit,
};

/// What gix-pack calls both of its counts of unpacked bytes.
const UNPACKED: Id = *b"IWDB";

/// What gix-pack tells how far it is. All counts but one are forgotten.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    unpacked: Arc<AtomicUsize>,
    count: Arc<AtomicUsize>,
}

impl Meter {
    /// The bytes unpacked up to now.
    pub(super) fn bytes(&self) -> usize {
        self.unpacked.load(Ordering::Relaxed)
    }
}

impl NestedProgress for Meter {
    type SubProgress = Self;

    fn add_child(&mut self, name: impl Into<String>) -> Self {
        self.add_child_with_id(name, UNKNOWN)
    }

    fn add_child_with_id(&mut self, _: impl Into<String>, id: Id) -> Self {
        let unpacked = Arc::clone(&self.unpacked);
        let count = if id == UNPACKED { Arc::clone(&unpacked) } else { Arc::default() };
        Self { unpacked, count }
    }
}

impl Count for Meter {
    fn set(&self, step: Step) {
        self.count.store(step, Ordering::Relaxed);
    }

    fn step(&self) -> Step {
        self.count.load(Ordering::Relaxed)
    }

    fn inc_by(&self, step: Step) {
        self.count.fetch_add(step, Ordering::Relaxed);
    }

    fn counter(&self) -> StepShared {
        Arc::clone(&self.count)
    }
}

impl Progress for Meter {
    fn init(&mut self, _: Option<Step>, _: Option<Unit>) {}

    fn set_name(&mut self, _: String) {}

    fn name(&self) -> Option<String> {
        None
    }

    fn id(&self) -> Id {
        UNKNOWN
    }

    fn message(&self, _: MessageLevel, _: String) {}
}
