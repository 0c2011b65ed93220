//! The calls of sessions: the request ids in use, when each session was last used, and calls whose streams were
//! interrupted.
//!
//! Invariant: the recorded data of a session is bounded, expires a minute after the call completes, and is removed with the session.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::SessionId;
use tokio_stream::StreamExt;

use super::streams::{EventStream, RecordedCall};

/// How long the response of an interrupted stream is kept.
pub(super) const RESUME_WINDOW: Duration = Duration::from_secs(60);

/// The maximum number of interrupted streams of a session that can be resumed.
const INTERRUPTED_MAX: usize = 8;

/// The calls of all sessions.
#[derive(Default)]
pub(super) struct CallRegistry {
    sessions: Mutex<HashMap<SessionId, SessionCalls>>,
}

struct SessionCalls {
    /// When its last request arrived or was answered.
    last_used: Instant,
    /// The requests without a response.
    pending: HashSet<RequestId>,
    /// Calls whose streams were interrupted.
    interrupted: VecDeque<InterruptedCall>,
}

/// A call whose stream was interrupted. Its events are recorded until this is dropped.
struct InterruptedCall {
    call: Arc<RecordedCall>,
    request: Option<RequestId>,
    recorder: tokio::task::AbortHandle,
}

impl Drop for InterruptedCall {
    fn drop(&mut self) {
        self.recorder.abort();
    }
}

impl CallRegistry {
    /// Adds a session.
    pub(super) fn open_session(&self, session: &SessionId) {
        let calls =
            SessionCalls { last_used: Instant::now(), pending: HashSet::new(), interrupted: VecDeque::new() };
        self.lock().insert(session.clone(), calls);
    }

    /// Records that a request of the session arrived.
    pub(super) fn touch(&self, session: &SessionId) {
        if let Some(calls) = self.lock().get_mut(session) {
            calls.last_used = Instant::now();
        }
    }

    /// Returns the session without pending requests that was not used for the longest time.
    pub(super) fn longest_idle_session(&self) -> Option<SessionId> {
        let sessions = self.lock();
        let idle = sessions.iter().filter(|(_, calls)| calls.pending.is_empty());
        idle.min_by_key(|(_, calls)| calls.last_used).map(|(session, _)| session.clone())
    }

    /// Registers a request. Returns `false` if its id is in use.
    pub(super) fn begin_request(&self, session: &SessionId, request: &RequestId) -> bool {
        self.lock().get_mut(session).is_none_or(|calls| calls.pending.insert(request.clone()))
    }

    /// Unregisters a request after its response.
    pub(super) fn end_request(&self, session: &SessionId, request: &RequestId) {
        if let Some(calls) = self.lock().get_mut(session) {
            calls.pending.remove(request);
            calls.last_used = Instant::now();
        }
    }

    /// Keeps a call whose stream was interrupted, and records its remaining events.
    pub(super) fn keep_interrupted(
        self: &Arc<Self>,
        session: SessionId,
        request: Option<RequestId>,
        call: Arc<RecordedCall>,
        mut stream: EventStream,
    ) {
        let (calls, recorded, session_id) = (Arc::clone(self), Arc::clone(&call), session.clone());
        let request_id = request.clone();
        let recorder = tokio::spawn(async move {
            while let Some(event) = stream.next().await {
                recorded.push(event);
            }
            recorded.complete();
            if let Some(request_id) = request_id {
                calls.end_request(&session_id, &request_id);
            }
            tokio::time::sleep(RESUME_WINDOW).await;
            calls.remove_interrupted(&session_id, recorded.number());
        });
        let interrupted = InterruptedCall { call, request, recorder: recorder.abort_handle() };
        let mut sessions = self.lock();
        // The session may have ended in the meantime.
        let Some(calls) = sessions.get_mut(&session) else { return };
        calls.interrupted.push_back(interrupted);
        if calls.interrupted.len() > INTERRUPTED_MAX
            && let Some(request) =
                calls.interrupted.pop_front().and_then(|mut interrupted| interrupted.request.take())
        {
            calls.pending.remove(&request);
        }
    }

    pub(super) fn interrupted_call(&self, session: &SessionId, number: u64) -> Option<Arc<RecordedCall>> {
        let sessions = self.lock();
        let interrupted = sessions
            .get(session)?
            .interrupted
            .iter()
            .find(|interrupted| interrupted.call.number() == number)?;
        Some(Arc::clone(&interrupted.call))
    }

    /// Removes an expired call.
    fn remove_interrupted(&self, session: &SessionId, number: u64) {
        if let Some(calls) = self.lock().get_mut(session) {
            calls.interrupted.retain(|interrupted| interrupted.call.number() != number);
        }
    }

    /// Removes a session.
    pub(super) fn close_session(&self, session: &SessionId) {
        self.lock().remove(session);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, SessionCalls>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
