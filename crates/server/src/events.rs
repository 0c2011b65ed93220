//! Server-wide notifications, and the events of selected chats, as server-sent events.

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event as SseEvent;
use futures_util::StreamExt;
use futures_util::stream::select_all;
use prowess_chat::store::Topic;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::chats::stream::{StreamEvent, chat_events, stream_response};
use crate::extract::QueryString;
use crate::problem::{ApiResult, Problem};

/// The maximum number of chats that one stream follows.
const CHATS_MAX: usize = 64;

/// Which chats the stream includes.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct EventsParams {
    /// Chats to follow, each with the number of the last event that the client has: `ID:SEQ,ID:SEQ`, at most 64.
    #[param(example = "01a1e130d768736ba6f0fc1a63514d25:7")]
    chats: Option<String>,
}

/// Streams change notifications from every server on the same database: `skills`, `chats`, and `missed` if notifications may have
/// been lost. They do not say what changed. Browsers limit the number of connections to a server, so one stream can follow chats
/// as well: it carries the events of `GET /api/chats/{id}/events`, each with its `chat`; `gone` means that the chat was deleted,
/// and `broken` that the client must reconnect.
#[utoipa::path(get, path = "/api/events", tag = "operations", params(EventsParams),
    responses((status = 200, body = StreamEvent, content_type = "text/event-stream"), (status = 400, body = Problem)))]
pub(crate) async fn events(
    State(app): State<App>,
    QueryString(params): QueryString<EventsParams>,
) -> ApiResult<Response> {
    let chats = parse_chats(params.chats.as_deref().unwrap_or_default())?;
    let permit = app.streams.acquire()?;
    let state = (app.store.announcements(), app.stop.clone());
    let general = futures_util::stream::unfold(state, |(mut announcements, stop)| async move {
        let topic = tokio::select! {
            topic = announcements.next() => topic?,
            () = stop.cancelled() => return None,
        };
        let name = match topic {
            Topic::Skills => "skills",
            Topic::Chats => "chats",
            // A client that reloads everything also sees changes to unknown topics.
            _ => "missed",
        };
        Some((Ok(SseEvent::default().event(name).data("{}")), (announcements, stop)))
    });
    let followed = chats.into_iter().map(|(chat, after)| chat_events(&app, chat, after).boxed());
    Ok(stream_response(select_all(followed.chain([general.boxed()])), permit))
}

fn parse_chats(text: &str) -> ApiResult<Vec<(String, u64)>> {
    let chats: Option<Vec<_>> = text
        .split(',')
        .filter(|item| !item.is_empty())
        .map(|item| item.split_once(':').and_then(|(id, seq)| Some((id.to_owned(), seq.parse().ok()?))))
        .collect();
    let chats = chats.ok_or_else(|| Problem::invalid("chats must be a comma-separated list of ID:SEQ"))?;
    match chats.len() > CHATS_MAX {
        true => {
            Err(Problem::invalid(format!("chats lists {} chats; the maximum is {CHATS_MAX}", chats.len())))
        }
        false => Ok(chats),
    }
}
