//! The response streams of calls, and resuming an interrupted one.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio_stream::Stream;

use super::calls::CallRegistry;

pub(super) type EventStream = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// The maximum number of recorded events of a call: its response, and the last events before it.
const EVENTS_MAX: usize = 32;

/// A stream that records its events. If the client does not read it to its end, the call is kept for a while.
pub(super) struct RecordingStream {
    inner: Option<EventStream>,
    events: VecDeque<ServerSseMessage>,
    calls: Arc<CallRegistry>,
    session: SessionId,
    request: Option<RequestId>,
}

impl RecordingStream {
    pub(super) fn new(
        inner: EventStream,
        calls: Arc<CallRegistry>,
        session: SessionId,
        request: Option<RequestId>,
    ) -> Self {
        Self { inner: Some(inner), events: VecDeque::new(), calls, session, request }
    }
}

impl Stream for RecordingStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        let polled = inner.as_mut().poll_next(context);
        match &polled {
            Poll::Ready(Some(event)) => push_event(&mut self.events, event.clone()),
            Poll::Ready(None) => {
                self.inner = None;
                if let Some(request) = &self.request {
                    self.calls.end_request(&self.session, request);
                }
            }
            Poll::Pending => {}
        }
        polled
    }
}

impl Drop for RecordingStream {
    fn drop(&mut self) {
        let Some(stream) = self.inner.take() else { return };
        let events = std::mem::take(&mut self.events);
        let number = events.iter().find_map(|event| call_number(event.event_id.as_deref()?));
        // Only a call with a number can be resumed, and recording the rest needs a runtime.
        if let Some(number) = number
            && tokio::runtime::Handle::try_current().is_ok()
        {
            let call = Arc::new(RecordedCall {
                number,
                state: Mutex::new(CallState { events, ..CallState::default() }),
            });
            self.calls.keep_interrupted(self.session.clone(), self.request.take(), call, stream);
        } else if let Some(request) = &self.request {
            self.calls.end_request(&self.session, request);
        }
    }
}

/// A call whose stream was interrupted.
pub(super) struct RecordedCall {
    number: u64,
    state: Mutex<CallState>,
}

#[derive(Default)]
struct CallState {
    events: VecDeque<ServerSseMessage>,
    is_complete: bool,
    /// The number of the current reader; previous readers are disconnected.
    reader: u64,
    waker: Option<Waker>,
}

impl RecordedCall {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn push(&self, event: ServerSseMessage) {
        let mut state = self.lock();
        push_event(&mut state.events, event);
        wake(&mut state);
    }

    /// Marks the call as complete.
    pub(super) fn complete(&self) {
        let mut state = self.lock();
        state.is_complete = true;
        wake(&mut state);
    }

    fn lock(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push_event(events: &mut VecDeque<ServerSseMessage>, event: ServerSseMessage) {
    events.push_back(event);
    if events.len() > EVENTS_MAX {
        events.pop_front();
    }
}

fn wake(state: &mut CallState) {
    if let Some(waker) = state.waker.take() {
        waker.wake();
    }
}

/// The remaining events of a call, for a client that resumes it.
pub(super) struct ResumedStream {
    call: Arc<RecordedCall>,
    reader: u64,
    /// The index of the last event that the client received.
    last: usize,
}

impl ResumedStream {
    pub(super) fn new(call: Arc<RecordedCall>, last: &str) -> Self {
        let mut state = call.lock();
        state.reader += 1;
        let reader = state.reader;
        wake(&mut state);
        drop(state);
        Self { call, reader, last: event_index(last).unwrap_or(0) }
    }
}

impl Stream for ResumedStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.call.lock();
        if state.reader != self.reader {
            return Poll::Ready(None);
        }
        let index = |event: &ServerSseMessage| event.event_id.as_deref().and_then(event_index);
        let next = state
            .events
            .iter()
            .find(|event| index(event).is_some_and(|position| position > self.last))
            .cloned();
        if let Some(event) = next {
            drop(state);
            self.last = index(&event).unwrap_or(self.last);
            return Poll::Ready(Some(event));
        }
        if state.is_complete {
            // The call is kept for a while, because the events may not have arrived.
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Returns the number of the call of an event from the SDK's id `INDEX/CALL`; `None` for other events.
pub(super) fn call_number(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}

/// Returns the index of an event in its call.
fn event_index(event: &str) -> Option<usize> {
    event.split_once('/')?.0.parse().ok()
}
