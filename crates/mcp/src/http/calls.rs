//! The calls of sessions: which numbers are in use, when each session was last used, and what is kept of calls whose
//! streams broke.
//!
//! What must always hold: what is kept of a session is bounded, is gone after a minute, and goes with the session.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::SessionId;
use tokio_stream::StreamExt;

use super::streams::{Call, Events};

/// How long an answer is kept for a client whose stream broke.
pub(super) const RESUME: Duration = Duration::from_secs(60);

/// The most broken streams of a session that can be gone on with.
const BROKEN_MAX: usize = 8;

/// The calls of all sessions.
#[derive(Default)]
pub(super) struct Calls {
    of: Mutex<HashMap<SessionId, OfSession>>,
}

/// What a session is busy with.
struct OfSession {
    /// When its last request arrived or was answered.
    last_used: Instant,
    /// The requests that are being answered.
    asked: HashSet<RequestId>,
    /// Calls whose streams broke.
    broken: VecDeque<Broken>,
}

/// A call whose stream broke. What is still said on it is heard until this is dropped.
struct Broken {
    call: Arc<Call>,
    request: Option<RequestId>,
    hearing: tokio::task::AbortHandle,
}

impl Drop for Broken {
    fn drop(&mut self) {
        self.hearing.abort();
    }
}

impl Calls {
    /// The session begins.
    pub(super) fn open(&self, session: &SessionId) {
        let calls = OfSession { last_used: Instant::now(), asked: HashSet::new(), broken: VecDeque::new() };
        self.lock().insert(session.clone(), calls);
    }

    /// A request of the session arrived.
    pub(super) fn touch(&self, session: &SessionId) {
        if let Some(calls) = self.lock().get_mut(session) {
            calls.last_used = Instant::now();
        }
    }

    /// The session that has not been used for the longest time, of those that have no request to be answered.
    pub(super) fn idle_longest(&self) -> Option<SessionId> {
        let all = self.lock();
        let idle = all.iter().filter(|(_, calls)| calls.asked.is_empty());
        idle.min_by_key(|(_, calls)| calls.last_used).map(|(session, _)| session.clone())
    }

    /// Takes the number of a request, unless it is in use. A session that has ended takes none.
    pub(super) fn begin(&self, session: &SessionId, request: &RequestId) -> bool {
        self.lock().get_mut(session).is_none_or(|calls| calls.asked.insert(request.clone()))
    }

    /// The request was answered.
    pub(super) fn end(&self, session: &SessionId, request: &RequestId) {
        if let Some(calls) = self.lock().get_mut(session) {
            calls.asked.remove(request);
            calls.last_used = Instant::now();
        }
    }

    /// Keeps a call whose stream broke, with what is still said on it.
    pub(super) fn keep(
        self: &Arc<Self>,
        session: SessionId,
        request: Option<RequestId>,
        call: Arc<Call>,
        mut rest: Events,
    ) {
        let (calls, heard, of) = (Arc::clone(self), Arc::clone(&call), session.clone());
        let number = request.clone();
        let hearing = tokio::spawn(async move {
            while let Some(event) = rest.next().await {
                heard.push(event);
            }
            heard.end();
            if let Some(number) = number {
                calls.end(&of, &number);
            }
            tokio::time::sleep(RESUME).await;
            calls.forget(&of, heard.number());
        });
        let broken = Broken { call, request, hearing: hearing.abort_handle() };
        let mut all = self.lock();
        // A session that ended meanwhile needs nothing.
        let Some(calls) = all.get_mut(&session) else { return };
        calls.broken.push_back(broken);
        if calls.broken.len() > BROKEN_MAX
            && let Some(request) = calls.broken.pop_front().and_then(|mut broken| broken.request.take())
        {
            calls.asked.remove(&request);
        }
    }

    /// The call of this number whose stream broke.
    pub(super) fn broken(&self, session: &SessionId, number: u64) -> Option<Arc<Call>> {
        let all = self.lock();
        let broken = all.get(session)?.broken.iter().find(|broken| broken.call.number() == number)?;
        Some(Arc::clone(&broken.call))
    }

    /// Nobody will come back for a call.
    fn forget(&self, session: &SessionId, number: u64) {
        if let Some(calls) = self.lock().get_mut(session) {
            calls.broken.retain(|broken| broken.call.number() != number);
        }
    }

    /// The session is over.
    pub(super) fn close(&self, session: &SessionId) {
        self.lock().remove(session);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, OfSession>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
