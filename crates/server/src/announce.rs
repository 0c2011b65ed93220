//! What concerns everybody who looks at this server, and the chats that one of them shows, as server-sent events.

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event as Sent;
use futures_util::StreamExt;
use futures_util::stream::select_all;
use prowess_chat::store::Topic;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::asked::Query;
use crate::chats::stream::{OneEvent, of_chat, response};
use crate::problem::{Answer, Problem};

/// The most chats that one stream follows.
const CHATS_MAX: usize = 64;

/// What a stream tells besides what concerns everybody.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct Also {
    /// Chats to follow, each with the number of the last event that is known of it: `ID:SEQ,ID:SEQ`, at most 64.
    #[param(example = "01a1e130d768736ba6f0fc1a63514d25:7")]
    chats: Option<String>,
}

/// Tells when to look again, from every server on the same database: `skills`, `chats`, and `missed` where some may not have got
/// here. These do not say what changed. Browsers have few connections to a server, so one stream can follow chats as well: their
/// events are those of `GET /api/chats/{id}/events`, each with its `chat`; `gone` tells that a chat was deleted, and `broken` that
/// the stream has to be opened again.
#[utoipa::path(get, path = "/api/events", tag = "operations", params(Also),
    responses((status = 200, body = OneEvent, content_type = "text/event-stream"), (status = 400, body = Problem)))]
pub(crate) async fn events(State(app): State<App>, Query(also): Query<Also>) -> Answer<Response> {
    let chats = parse_chats(also.chats.as_deref().unwrap_or_default())?;
    let place = app.streams.enter()?;
    let state = (app.store.announcements(), app.stop.clone());
    let general = futures_util::stream::unfold(state, |(mut announcements, stop)| async move {
        let topic = tokio::select! {
            topic = announcements.next() => topic?,
            () = stop.cancelled() => return None,
        };
        let name = match topic {
            Topic::Skills => "skills",
            Topic::Chats => "chats",
            // Whatever it is, looking at everything finds it.
            _ => "missed",
        };
        Some((Ok(Sent::default().event(name).data("{}")), (announcements, stop)))
    });
    let followed = chats.into_iter().map(|(chat, after)| of_chat(&app, chat, after).boxed());
    Ok(response(select_all(followed.chain([general.boxed()])), place))
}

fn parse_chats(text: &str) -> Answer<Vec<(String, u64)>> {
    let chats: Option<Vec<_>> = text
        .split(',')
        .filter(|one| !one.is_empty())
        .map(|one| one.split_once(':').and_then(|(id, seq)| Some((id.to_owned(), seq.parse().ok()?))))
        .collect();
    let chats =
        chats.ok_or_else(|| Problem::invalid("chats is a list of ID:SEQ, with commas between them"))?;
    match chats.len() > CHATS_MAX {
        true => Err(Problem::invalid(format!(
            "chats names {} chats; at most {CHATS_MAX} are followed",
            chats.len()
        ))),
        false => Ok(chats),
    }
}
