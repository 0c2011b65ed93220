//! Counts the unpacked bytes of a pack.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gix_utils::progress::{
    Count, Id, MessageLevel, NestedProgress, Progress, Step, StepShared, UNKNOWN, Unit,
};

/// The id that gix-pack uses for both of its counts of unpacked bytes.
const UNPACKED: Id = *b"IWDB";

/// A progress receiver for gix-pack that ignores all counts except unpacked bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct UnpackMeter {
    unpacked: Arc<AtomicUsize>,
    count: Arc<AtomicUsize>,
}

impl UnpackMeter {
    /// Returns the number of bytes unpacked so far.
    pub(super) fn unpacked_bytes(&self) -> usize {
        self.unpacked.load(Ordering::Relaxed)
    }
}

impl NestedProgress for UnpackMeter {
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

impl Count for UnpackMeter {
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

impl Progress for UnpackMeter {
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
