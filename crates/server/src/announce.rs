//! What concerns everybody who looks at this server, as server-sent events.

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event as Sent;
use prowess_chat::store::Topic;

use crate::app::App;
use crate::chats::stream::{OneEvent, response};
use crate::problem::Answer;

/// Tells when to look again, from every server on the same database: `skills`, `chats`, and `missed` where some may not have got
/// here. It is never told what changed.
#[utoipa::path(get, path = "/api/events", tag = "operations",
    responses((status = 200, body = OneEvent, content_type = "text/event-stream")))]
pub(crate) async fn events(State(app): State<App>) -> Answer<Response> {
    let place = app.streams.enter()?;
    let state = (app.store.announcements(), app.stop.clone());
    let events = futures_util::stream::unfold(state, |(mut announcements, stop)| async move {
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
    Ok(response(events, place))
}
