//! The streams that calls are answered on, and going on with one that broke.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio_stream::Stream;

use super::calls::Calls;

/// Events of some stream.
pub(super) type Events = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// The most events of a call that are kept: its answer, and the last steps before it.
const EVENTS_MAX: usize = 32;

/// A stream that somebody reads. What was said is remembered until its end: if nobody reads it to there, the call is
/// kept for a while.
pub(super) struct Recorded {
    inner: Option<Events>,
    said: VecDeque<ServerSseMessage>,
    calls: Arc<Calls>,
    session: SessionId,
    request: Option<RequestId>,
}

impl Recorded {
    pub(super) fn new(
        inner: Events,
        calls: Arc<Calls>,
        session: SessionId,
        request: Option<RequestId>,
    ) -> Self {
        Self { inner: Some(inner), said: VecDeque::new(), calls, session, request }
    }
}

impl Stream for Recorded {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        let polled = inner.as_mut().poll_next(context);
        match &polled {
            Poll::Ready(Some(event)) => push(&mut self.said, event.clone()),
            Poll::Ready(None) => {
                self.inner = None;
                if let Some(request) = &self.request {
                    self.calls.end(&self.session, request);
                }
            }
            Poll::Pending => {}
        }
        polled
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let Some(rest) = self.inner.take() else { return };
        let said = std::mem::take(&mut self.said);
        let number = said.iter().find_map(|event| number_of(event.event_id.as_deref()?));
        // Only what has a number can be asked for, and only a runtime can hear the rest.
        if let Some(number) = number
            && tokio::runtime::Handle::try_current().is_ok()
        {
            let call = Arc::new(Call { number, state: Mutex::new(State { said, ..State::default() }) });
            self.calls.keep(self.session.clone(), self.request.take(), call, rest);
        }
    }
}

/// A call whose stream broke.
pub(super) struct Call {
    number: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    said: VecDeque<ServerSseMessage>,
    is_over: bool,
    /// Who reads it now; whoever came before is sent away.
    reader: u64,
    waiting: Option<Waker>,
}

impl Call {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn push(&self, event: ServerSseMessage) {
        let mut state = self.lock();
        push(&mut state.said, event);
        wake(&mut state);
    }

    /// Nothing more will be said.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        wake(&mut state);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push(said: &mut VecDeque<ServerSseMessage>, event: ServerSseMessage) {
    said.push_back(event);
    if said.len() > EVENTS_MAX {
        said.pop_front();
    }
}

fn wake(state: &mut State) {
    if let Some(waker) = state.waiting.take() {
        waker.wake();
    }
}

/// The rest of a call, for a client that came back.
pub(super) struct Followed {
    call: Arc<Call>,
    reader: u64,
    /// The last event that the client has.
    last: usize,
}

impl Followed {
    pub(super) fn new(call: Arc<Call>, last: &str) -> Self {
        let mut state = call.lock();
        state.reader += 1;
        let reader = state.reader;
        wake(&mut state);
        drop(state);
        Self { call, reader, last: index_of(last).unwrap_or(0) }
    }
}

impl Stream for Followed {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.call.lock();
        if state.reader != self.reader {
            return Poll::Ready(None);
        }
        let index = |event: &ServerSseMessage| event.event_id.as_deref().and_then(index_of);
        let next = state.said.iter().find(|event| index(event).is_some_and(|at| at > self.last)).cloned();
        if let Some(event) = next {
            drop(state);
            self.last = index(&event).unwrap_or(self.last);
            return Poll::Ready(Some(event));
        }
        if state.is_over {
            // It stays for a while: what was handed out may not have arrived.
            return Poll::Ready(None);
        }
        state.waiting = Some(context.waker().clone());
        Poll::Pending
    }
}

/// The call that an event belongs to, from the SDK's `INDEX/CALL`; those that belong to none have no number.
pub(super) fn number_of(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}

/// How many events of the call came before.
fn index_of(event: &str) -> Option<usize> {
    event.split_once('/')?.0.parse().ok()
}
