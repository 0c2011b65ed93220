//! The pending requests of one client.
//!
//! Invariant: a request counts from the moment it is read until its response is written or, if the client cancelled
//! it, until its work has ended. Cancelling requests quickly does not allow a client to run more of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// The maximum number of concurrent requests. Each may read a file of 16 MiB.
pub(super) const CONCURRENT_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    state: Mutex<PendingState>,
    capacity_freed: Notify,
}

#[derive(Debug, Default)]
struct PendingState {
    requests: HashMap<RequestId, RequestStage>,
    /// The number of invalid lines whose error responses are not written yet.
    rejections: usize,
    /// Whether the output is closed.
    is_closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestStage {
    Running,
    /// It is running, and the client cancelled it.
    Cancelled,
    /// It has a response.
    Answered,
}

impl PendingRequests {
    /// Registers a request. Returns `false` if its id is in use.
    pub(super) fn begin(&self, id: &RequestId) -> bool {
        let mut state = self.lock();
        let is_new = !state.requests.contains_key(id);
        if is_new {
            state.requests.insert(id.clone(), RequestStage::Running);
        }
        is_new
    }

    /// Marks the beginning of the work on a request.
    pub(super) fn start_work(self: &Arc<Self>, id: &RequestId) -> WorkGuard {
        WorkGuard { pending: Arc::clone(self), id: id.clone(), stage: None }
    }

    /// Marks a request as cancelled by the client. It may get no response.
    pub(super) fn cancel(&self, id: &RequestId) {
        self.set_stage(id, |stage| (stage == RequestStage::Running).then_some(RequestStage::Cancelled));
    }

    /// Removes a request after its response was written.
    pub(super) fn finish(&self, id: &RequestId) {
        self.set_stage(id, |_| None);
    }

    /// Counts an invalid line that needs an error response.
    pub(super) fn begin_rejection(&self) {
        self.lock().rejections += 1;
    }

    /// Uncounts an invalid line after its error response was written.
    pub(super) fn finish_rejection(&self) {
        self.lock().rejections -= 1;
        self.capacity_freed.notify_one();
    }

    /// Records that the output is closed, so that no more requests are read.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.capacity_freed.notify_one();
    }

    /// Waits until another request may be read; returns `false` if the output is closed.
    pub(super) async fn wait_for_capacity(&self) -> bool {
        loop {
            if self.lock().is_closed {
                return false;
            }
            if self.count() < CONCURRENT_MAX {
                return true;
            }
            self.capacity_freed.notified().await;
        }
    }

    fn count(&self) -> usize {
        let state = self.lock();
        state.requests.len() + state.rejections
    }

    /// Moves a request to another stage, or removes it.
    fn set_stage(&self, id: &RequestId, next: impl FnOnce(RequestStage) -> Option<RequestStage>) {
        let mut state = self.lock();
        let Some(stage) = state.requests.get_mut(id) else { return };
        match next(*stage) {
            Some(next) => *stage = next,
            None => {
                state.requests.remove(id);
                self.capacity_freed.notify_one();
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guards the work on a request. If it is dropped without a response, the request is removed.
#[derive(Debug)]
pub(super) struct WorkGuard {
    pending: Arc<PendingRequests>,
    id: RequestId,
    stage: Option<RequestStage>,
}

impl WorkGuard {
    /// Marks the request as answered.
    pub(super) fn complete(mut self) {
        self.stage = Some(RequestStage::Answered);
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        let next = self.stage;
        self.pending.set_stage(&self.id, |stage| next.filter(|_| stage != RequestStage::Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_until_its_work_ends() {
        let pending = Arc::<PendingRequests>::default();
        let id = RequestId::Number(1);
        // Answered.
        assert!(pending.begin(&id) && !pending.begin(&id));
        pending.start_work(&id).complete();
        assert_eq!(pending.count(), 1);
        pending.finish(&id);
        assert_eq!(pending.count(), 0);
        // Cancelled while it is running.
        pending.begin(&id);
        let work = pending.start_work(&id);
        pending.cancel(&id);
        assert_eq!(pending.count(), 1);
        work.complete();
        assert_eq!(pending.count(), 0);
        // Cancelled before its response is written.
        pending.begin(&id);
        pending.start_work(&id).complete();
        pending.cancel(&id);
        assert_eq!(pending.count(), 0);
        // Without a response.
        pending.begin(&id);
        drop(pending.start_work(&id));
        assert_eq!(pending.count(), 0);
        // Unknown requests.
        pending.cancel(&id);
        pending.finish(&id);
        pending.begin_rejection();
        assert_eq!(pending.count(), 1);
        pending.finish_rejection();
        assert_eq!(pending.count(), 0);
    }
}
