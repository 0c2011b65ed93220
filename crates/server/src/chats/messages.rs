//! Sends messages and stops answers.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use prowess::ErrorCode;
use prowess_chat::turn::MESSAGE_MAX;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::stream;
use crate::app::App;
use crate::extract::{JsonBody, Path};
use crate::guard::Access;
use crate::problem::{ApiResult, Problem};
use crate::turns::{TurnRequest, TurnSource};

/// A message to send.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Words)]
pub(crate) struct NewMessage {
    /// The text, at most 1 MiB. `/name` at the start activates a skill.
    #[serde(default)]
    #[schema(min_length = 1)]
    text: String,
    /// The id of a user message, to replace it and everything after it. What is replaced is kept as another version.
    replaces: Option<String>,
    /// The id of an answer, to answer the same message again, without a text. The answer is kept as another version.
    regenerate: Option<String>,
    /// The paths of the files of this chat that belong to the message.
    #[serde(default)]
    #[schema(required = false, max_items = 100)]
    files: Vec<String>,
}

/// Sends a message and streams the answer: `delta`, `tool_call`, `consent`, `tool_result`, then `done` or `error`. Each event has a number
/// (`id`), after which `GET …/events` can resume. Closing the connection does not stop the answer.
#[utoipa::path(post, path = "/api/chats/{id}/messages", tag = "chats", params(("id" = String, Path)), request_body = NewMessage,
    responses((status = 200, body = stream::StreamEvent, content_type = "text/event-stream"), (status = 409, body = Problem)))]
pub(crate) async fn send(
    State(app): State<App>,
    access: Access,
    Path(id): Path<String>,
    JsonBody(message): JsonBody<NewMessage>,
) -> ApiResult<Response> {
    let NewMessage { text, replaces, regenerate, files } = message;
    let source = match regenerate {
        Some(reply) if text.is_empty() && files.is_empty() && replaces.is_none() => TurnSource::Reply(reply),
        Some(_) => {
            return Err(Problem::invalid("regenerate cannot be combined with text, files or replaces"));
        }
        None if text.trim().is_empty() => return Err(Problem::invalid("the message is empty")),
        None if text.len() > MESSAGE_MAX => {
            let detail = format!("the message has {} bytes; the maximum is {MESSAGE_MAX}", text.len());
            return Err(Problem::new(ErrorCode::TooLarge, detail));
        }
        None => TurnSource::Message { text, files, replaces },
    };
    let permit = app.streams.acquire()?;
    let loaded = app.reloadable.current();
    let (agent, file_limits) = (loaded.agent.clone(), loaded.configuration.chat.files);
    let ask_consent = app.turns.asks_consent() && access == Access::Admin;
    let started = app.turns.begin(agent, id, TurnRequest { source, file_limits, ask_consent }).await?;
    Ok(stream::turn_response(&app, started, permit))
}

/// Selects a version of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Version)]
pub(crate) struct VersionChoice {
    /// The id of the version: `previous` or `next` of the `versions` of a message.
    message: String,
}

/// Shows another version of a message, with everything that followed it.
#[utoipa::path(post, path = "/api/chats/{id}/branch", tag = "chats", params(("id" = String, Path)), request_body = VersionChoice,
    responses((status = 204), (status = 409, body = Problem)))]
pub(crate) async fn switch(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(choice): JsonBody<VersionChoice>,
) -> ApiResult<StatusCode> {
    app.store.switch_version(&id, &choice.message).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a message. If nothing follows it, its latest other version is shown instead.
#[utoipa::path(delete, path = "/api/chats/{id}/messages/{message}", tag = "chats",
    params(("id" = String, Path), ("message" = String, Path)), responses((status = 204), (status = 409, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Path((id, message)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    app.store.delete_message(&id, &message).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The result of stopping an answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stopped)]
pub(crate) struct StopResponse {
    /// Whether an answer was being written.
    stopped: bool,
}

/// Stops the running turn of a chat, on whichever server it runs. The text so far is kept, and the next message can be sent.
#[utoipa::path(post, path = "/api/chats/{id}/stop", tag = "chats", params(("id" = String, Path)),
    responses((status = 200, body = StopResponse)))]
pub(crate) async fn stop(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Json<StopResponse>> {
    Ok(Json(StopResponse { stopped: app.turns.stop(&*app.store, &id).await? }))
}
