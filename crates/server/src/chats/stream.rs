//! What happens in a chat, as server-sent events that can be resumed. Each has the number that it has in the store.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use prowess_chat::Event;
use prowess_chat::store::{Follow, Followed, Numbered, Store, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use crate::app::App;
use crate::asked::{Path, Query};
use crate::limits::Place;
use crate::problem::{Answer, Problem};
use crate::turns::Started;

/// How often a client hears that it is still connected.
const ALIVE: Duration = Duration::from_secs(15);

/// How often a store that is away is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// Where a stream begins.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    /// The number of the last event that is known; `Last-Event-ID` goes before it.
    after: Option<u64>,
}

/// One of the events of a stream.
#[derive(utoipa::ToSchema)]
#[allow(dead_code, reason = "describes what is written by `Sent`")]
pub(crate) struct OneEvent {
    /// Its number, where it has one.
    #[schema(required = false)]
    id: String,
    /// What kind it is.
    event: String,
    /// JSON.
    data: String,
}

/// Follows a chat, turn after turn, whichever server writes it: `delta`, `tool_call`, `tool_result`, `done`, `error`, and `missed`
/// where events are not kept any more and the chat has to be read anew.
#[utoipa::path(get, path = "/api/chats/{id}/events", tag = "chats", params(("id" = String, Path), From),
    responses((status = 200, body = OneEvent, content_type = "text/event-stream")))]
pub(crate) async fn follow(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Answer<Response> {
    let last = headers.get("last-event-id").map(|id| id.to_str().ok().and_then(|id| id.parse().ok()));
    let after = match last {
        Some(None) => return Err(Problem::invalid("Last-Event-ID is the number of an event")),
        Some(Some(seq)) => seq,
        None => match from.after {
            Some(seq) => seq,
            None => app.store.chat(&id).await?.seq,
        },
    };
    // Whether there is such a chat is said before the stream begins.
    app.store.chat(&id).await?;
    let place = app.streams.enter()?;
    let follow = Follow::new(Arc::clone(&app.store), &id, after);
    let store = app.store.clone();
    let source = Source::Stored(follow);
    let reader = Reader { source, store, chat: id, after, once: false, names_chat: false, over: false };
    Ok(response(reader.events(app.stop.clone()), place))
}

/// What happens in a chat after an event, as part of a stream about several: each event names its chat.
pub(crate) fn of_chat(
    app: &App,
    chat: String,
    after: u64,
) -> impl Stream<Item = Result<Sent, Infallible>> + Send + use<> {
    let source = Source::Stored(Follow::new(Arc::clone(&app.store), &chat, after));
    let store = app.store.clone();
    let reader = Reader { source, store, chat, after, once: false, names_chat: true, over: false };
    reader.events(app.stop.clone())
}

/// What happens in a turn that was begun here, until its end.
pub(super) fn of_turn(app: &App, started: Started, place: Place) -> Response {
    let Started { turn, events } = started;
    let after = turn.first.saturating_sub(1);
    let source = Source::Direct(events);
    let (store, chat) = (app.store.clone(), turn.chat);
    let reader = Reader { source, store, chat, after, once: true, names_chat: false, over: false };
    // When the server ends, turns are ended in order: whoever listens hears that, too.
    response(reader.events(CancellationToken::new()), place)
}

/// A stream of events, which takes up a place until it is over.
pub(crate) fn response(
    events: impl Stream<Item = Result<Sent, Infallible>> + Send + 'static,
    place: Place,
) -> Response {
    let events = events.inspect(move |_| {
        let _taken = &place;
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that gather what they pass on would hold words back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Where events come from.
enum Source {
    /// From the turn itself. Whoever is too slow for that goes on with the store.
    Direct(mpsc::Receiver<Numbered>),
    /// From the store.
    Stored(Follow),
}

/// Somebody who reads.
struct Reader {
    source: Source,
    store: Arc<dyn Store>,
    chat: String,
    after: u64,
    /// Whether the end of a turn is the end of the stream.
    once: bool,
    /// Whether each event names the chat, for streams about several.
    names_chat: bool,
    over: bool,
}

impl Reader {
    fn events(self, stop: CancellationToken) -> impl Stream<Item = Result<Sent, Infallible>> + Send {
        futures_util::stream::unfold((self, stop), |(mut reader, stop)| async move {
            if reader.over {
                return None;
            }
            let next = tokio::select! {
                next = reader.next() => next,
                () = stop.cancelled() => return None,
            };
            Some((Ok(next), (reader, stop)))
        })
    }

    async fn next(&mut self) -> Sent {
        loop {
            match &mut self.source {
                Source::Direct(events) => match events.recv().await {
                    Some(event) if event.seq == self.after + 1 => return self.sent(&event),
                    // Some did not fit, or it broke off: the store has all of it.
                    Some(_) | None => {
                        let follow = Follow::ahead(Arc::clone(&self.store), &self.chat, self.after);
                        self.source = Source::Stored(follow);
                    }
                },
                Source::Stored(follow) => {
                    match follow.next().await {
                        Ok(Followed::Event(event)) => return self.sent(&event),
                        Ok(Followed::Missed) => {
                            // The turn of whoever asked is over then, and another has begun.
                            self.over = self.once;
                            let data = self.data(json!({}));
                            return Sent::default().event("missed").data(data);
                        }
                        // A store that is away is waited for.
                        Err(error) if error.is_passing() => tokio::time::sleep(AGAIN).await,
                        Err(error) => {
                            self.over = true;
                            return self.broken(&error);
                        }
                    }
                }
            }
        }
    }

    fn sent(&mut self, numbered: &Numbered) -> Sent {
        self.after = numbered.seq;
        let (name, is_end) = match &numbered.event {
            Event::Delta { .. } => ("delta", false),
            Event::ToolCall { .. } => ("tool_call", false),
            Event::ToolResult { .. } => ("tool_result", false),
            Event::Done { .. } => ("done", true),
            Event::Error { .. } => ("error", true),
        };
        self.over = self.once && is_end;
        let data = match self.names_chat {
            true => self.data(serde_json::to_value(numbered).unwrap_or_default()),
            false => serde_json::to_string(numbered).unwrap_or_default(),
        };
        Sent::default().id(numbered.seq.to_string()).event(name).data(data)
    }

    /// The data of an event, with the chat where events name it.
    fn data(&self, mut data: Value) -> String {
        if let (true, Some(fields)) = (self.names_chat, data.as_object_mut()) {
            fields.insert("chat".to_owned(), self.chat.as_str().into());
        }
        data.to_string()
    }

    /// The last event of this chat. Clients of a stream about several chats tell a deleted chat (`gone`) from a store that
    /// failed (`broken`), after which they connect again.
    fn broken(&self, error: &StoreError) -> Sent {
        let is_deleted = matches!(error, StoreError::NoChat);
        let message = if is_deleted { "the chat was deleted".to_owned() } else { error.without_place() };
        let name = match (self.names_chat, is_deleted) {
            (false, _) => "error",
            (true, true) => "gone",
            (true, false) => "broken",
        };
        let data = self.data(json!({"code": error.code().as_str(), "message": message}));
        Sent::default().event(name).data(data)
    }
}
