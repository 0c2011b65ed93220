//! A message, and stopping the answer.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use prowess::ErrorCode;
use prowess_chat::turn::MESSAGE_MAX;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::stream;
use crate::app::App;
use crate::asked::{Body, Path};
use crate::problem::{Answer, Problem};

/// What a person says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// The words, at most a mebibyte. `/name` at the start calls a skill.
    #[schema(min_length = 1)]
    text: String,
    /// The id of the last message of a person, to ask again: this message takes its place. That one goes, with everything
    /// that was answered to it, and is not part of the conversation any more.
    replaces: Option<String>,
}

/// Says something, and streams the answer: `delta`, `tool_call`, `tool_result`, then `done` or `error`. Each event has a number
/// (`id`), from which `GET …/events` goes on. Closing the connection does not stop the answer.
#[utoipa::path(post, path = "/api/chats/{id}/messages", tag = "chats", params(("id" = String, Path)), request_body = Words,
    responses((status = 200, body = stream::OneEvent, content_type = "text/event-stream"), (status = 409, body = Problem)))]
pub(crate) async fn message(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(words): Body<Words>,
) -> Answer<Response> {
    if words.text.trim().is_empty() {
        return Err(Problem::invalid("the message is empty"));
    }
    if words.text.len() > MESSAGE_MAX {
        let detail = format!("the message has {} bytes; at most {MESSAGE_MAX} are taken", words.text.len());
        return Err(Problem::new(ErrorCode::TooLarge, detail));
    }
    let place = app.streams.enter()?;
    let agent = app.live.now().agent.clone();
    let started = app.turns.begin(agent, id, words.text, words.replaces).await?;
    Ok(stream::of_turn(&app, started, place))
}

/// Whether something was stopped.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Stopped {
    /// Whether an answer was being written.
    stopped: bool,
}

/// Stops the answer that is being written in a chat, by whichever server. What was said is kept, and the next message can be sent.
#[utoipa::path(post, path = "/api/chats/{id}/stop", tag = "chats", params(("id" = String, Path)),
    responses((status = 200, body = Stopped)))]
pub(crate) async fn stop(State(app): State<App>, Path(id): Path<String>) -> Answer<Json<Stopped>> {
    Ok(Json(Stopped { stopped: app.turns.stop(&*app.store, &id).await? }))
}
