//! Streams the events of a chat as server-sent events. Clients can resume with the event number, which is the one in the store.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use prowess_chat::TurnEvent;
use prowess_chat::store::{ChatFollower, FollowedEvent, NumberedEvent, Store, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use crate::app::App;
use crate::extract::{Path, QueryString};
use crate::limits::ConcurrencyPermit;
use crate::problem::{ApiResult, Problem};
use crate::turns::StartedTurn;

/// The interval of keep-alive comments.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// The delay before retrying an unavailable store.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Where a stream starts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowParams {
    /// The number of the last event that the client has; the header `Last-Event-ID` takes precedence.
    after: Option<u64>,
}

/// An event of a stream.
#[derive(utoipa::ToSchema)]
#[schema(as = OneEvent)]
#[allow(dead_code, reason = "describes what `SseEvent` writes")]
pub(crate) struct StreamEvent {
    /// The event number, if it has one.
    #[schema(required = false)]
    id: String,
    /// The kind of event.
    event: String,
    /// The data, as JSON.
    data: String,
}

/// Streams the events of all turns of a chat, on whichever server they run: `delta`, `thinking`, `summary`, `waiting`, `tools_disabled`, `tool_call`, `consent`, `tool_result`, `done`, `error`,
/// and `missed` if events are no longer stored and the client must reload the chat.
#[utoipa::path(get, path = "/api/chats/{id}/events", tag = "chats", params(("id" = String, Path), FollowParams),
    responses((status = 200, body = StreamEvent, content_type = "text/event-stream")))]
pub(crate) async fn follow(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(params): QueryString<FollowParams>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let last = headers.get("last-event-id").map(|id| id.to_str().ok().and_then(|id| id.parse().ok()));
    let after = match last {
        Some(None) => return Err(Problem::invalid("Last-Event-ID must be an event number")),
        Some(Some(seq)) => seq,
        None => match params.after {
            Some(seq) => seq,
            None => app.store.chat(&id).await?.seq,
        },
    };
    // A missing chat is reported before the stream starts.
    app.store.chat(&id).await?;
    let permit = app.streams.acquire()?;
    let follow = ChatFollower::new(Arc::clone(&app.store), &id, after);
    let store = app.store.clone();
    let source = EventSource::Stored(follow);
    let reader = EventReader {
        source,
        store,
        chat: id,
        after,
        ends_with_turn: false,
        names_chat: false,
        finished: false,
    };
    Ok(stream_response(reader.events(app.stop.clone()), permit))
}

/// Returns the events of a chat after `after`, for a stream of several chats: each event names its chat.
pub(crate) fn chat_events(
    app: &App,
    chat: String,
    after: u64,
) -> impl Stream<Item = Result<SseEvent, Infallible>> + Send + use<> {
    let source = EventSource::Stored(ChatFollower::new(Arc::clone(&app.store), &chat, after));
    let store = app.store.clone();
    let reader =
        EventReader { source, store, chat, after, ends_with_turn: false, names_chat: true, finished: false };
    reader.events(app.stop.clone())
}

/// Returns a response with the events of a turn that this process started.
pub(super) fn turn_response(app: &App, started: StartedTurn, permit: ConcurrencyPermit) -> Response {
    let StartedTurn { turn, events } = started;
    let after = turn.first.saturating_sub(1);
    let source = EventSource::Direct(events);
    let (store, chat) = (app.store.clone(), turn.chat);
    let reader =
        EventReader { source, store, chat, after, ends_with_turn: true, names_chat: false, finished: false };
    // At shutdown, turns end in order and the client receives their last events, so the stream ignores the stop token.
    stream_response(reader.events(CancellationToken::new()), permit)
}

/// Returns an event stream response that holds its permit until it ends.
pub(crate) fn stream_response(
    events: impl Stream<Item = Result<SseEvent, Infallible>> + Send + 'static,
    permit: ConcurrencyPermit,
) -> Response {
    let events = events.inspect(move |_| {
        let _held = &permit;
    });
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Buffering proxies would delay events.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

enum EventSource {
    /// The turn itself. A client that is too slow for it continues with the store.
    Direct(mpsc::Receiver<NumberedEvent>),
    Stored(ChatFollower),
}

/// Reads the events of one chat.
struct EventReader {
    source: EventSource,
    store: Arc<dyn Store>,
    chat: String,
    after: u64,
    /// Whether the stream ends with the turn.
    ends_with_turn: bool,
    /// Whether each event names the chat, for streams of several chats.
    names_chat: bool,
    finished: bool,
}

impl EventReader {
    fn events(self, stop: CancellationToken) -> impl Stream<Item = Result<SseEvent, Infallible>> + Send {
        futures_util::stream::unfold((self, stop), |(mut reader, stop)| async move {
            if reader.finished {
                return None;
            }
            let next = tokio::select! {
                next = reader.next() => next,
                () = stop.cancelled() => return None,
            };
            Some((Ok(next), (reader, stop)))
        })
    }

    async fn next(&mut self) -> SseEvent {
        loop {
            match &mut self.source {
                EventSource::Direct(events) => match events.recv().await {
                    Some(event) if event.seq == self.after + 1 => return self.encode(&event),
                    // Events were dropped or the turn failed: the store has all events.
                    Some(_) | None => {
                        let follow = ChatFollower::new_ahead(Arc::clone(&self.store), &self.chat, self.after);
                        self.source = EventSource::Stored(follow);
                    }
                },
                EventSource::Stored(follow) => {
                    match follow.next().await {
                        Ok(FollowedEvent::Event(event)) => return self.encode(&event),
                        Ok(FollowedEvent::Missed) => {
                            // The requested turn has ended, and another one has started.
                            self.finished = self.ends_with_turn;
                            let data = self.data(json!({}));
                            return SseEvent::default().event("missed").data(data);
                        }
                        // Retries while the store is unavailable.
                        Err(error) if error.is_retryable() => tokio::time::sleep(RETRY_DELAY).await,
                        Err(error) => {
                            self.finished = true;
                            return self.encode_error(&error);
                        }
                    }
                }
            }
        }
    }

    fn encode(&mut self, numbered: &NumberedEvent) -> SseEvent {
        self.after = numbered.seq;
        let (name, is_end) = match &numbered.event {
            TurnEvent::Delta { .. } => ("delta", false),
            TurnEvent::Thinking { .. } => ("thinking", false),
            TurnEvent::Summary { .. } => ("summary", false),
            TurnEvent::Waiting { .. } => ("waiting", false),
            TurnEvent::ToolsDisabled { .. } => ("tools_disabled", false),
            TurnEvent::ToolCall { .. } => ("tool_call", false),
            TurnEvent::Consent { .. } => ("consent", false),
            TurnEvent::ToolResult { .. } => ("tool_result", false),
            TurnEvent::Done { .. } => ("done", true),
            TurnEvent::Error { .. } => ("error", true),
        };
        self.finished = self.ends_with_turn && is_end;
        let data = match self.names_chat {
            true => self.data(serde_json::to_value(numbered).unwrap_or_default()),
            false => serde_json::to_string(numbered).unwrap_or_default(),
        };
        SseEvent::default().id(numbered.seq.to_string()).event(name).data(data)
    }

    /// Returns the data of an event, with the chat if events name it.
    fn data(&self, mut data: Value) -> String {
        if let (true, Some(fields)) = (self.names_chat, data.as_object_mut()) {
            fields.insert("chat".to_owned(), self.chat.as_str().into());
        }
        data.to_string()
    }

    /// Returns the last event of this chat. Clients of a stream of several chats distinguish a deleted chat (`gone`) from a failed
    /// store (`broken`), after which they reconnect.
    fn encode_error(&self, error: &StoreError) -> SseEvent {
        let is_deleted = matches!(error, StoreError::ChatNotFound);
        let message = if is_deleted { "the chat was deleted".to_owned() } else { error.public_message() };
        let name = match (self.names_chat, is_deleted) {
            (false, _) => "error",
            (true, true) => "gone",
            (true, false) => "broken",
        };
        let data = self.data(json!({"code": error.code().as_str(), "message": message}));
        SseEvent::default().event(name).data(data)
    }
}
