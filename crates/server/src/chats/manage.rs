//! Creates, lists, reads, changes and deletes chats.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use prowess::ErrorCode;
use prowess_chat::store::{
    CHATS_MAX, Chat, FoundChat, ListingChange, MESSAGES_MAX, MessagePage, MessageVersions, NewChat, Topic,
};
use prowess_chat::{ConsentQuestion, Message, MessageState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::extract::{JsonBody, OptionalJsonBody, Path, QueryString};
use crate::markdown;
use crate::problem::{ApiResult, Problem};
use crate::render::run_blocking;

/// The default number of chats per page.
const PAGE_DEFAULT: usize = 50;

/// The maximum number of characters of a search.
const SEARCH_MAX: usize = 1_000;

/// Selects chats.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChatsParams {
    /// The `next` value of the previous page.
    after: Option<String>,
    /// The maximum number of chats, up to 200.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Words of the title or of messages: lists only chats that contain them, most recent first, on one page.
    #[param(max_length = 1000)]
    search: Option<String>,
    /// `1`: lists archived chats instead of the others.
    #[param(minimum = 0, maximum = 1)]
    archived: Option<u8>,
}

/// A page of chats.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Chats)]
pub(crate) struct ChatsResponse {
    schema: u32,
    /// The chats: pinned ones first, then most recent first.
    chats: Vec<FoundChat>,
    /// The `after` value for the next page; null on the last page.
    next: Option<String>,
}

/// Lists chats, most recent first.
#[utoipa::path(get, path = "/api/chats", tag = "chats", params(ChatsParams), responses((status = 200, body = ChatsResponse)))]
pub(crate) async fn list(
    State(app): State<App>,
    QueryString(params): QueryString<ChatsParams>,
) -> ApiResult<Json<ChatsResponse>> {
    let limit = check_limit(params.limit, PAGE_DEFAULT, CHATS_MAX)?;
    if let Some(text) = &params.search {
        if params.after.is_some() || params.archived.is_some() {
            return Err(Problem::invalid("search cannot be combined with after or archived"));
        }
        if text.chars().count() > SEARCH_MAX {
            return Err(Problem::invalid(format!("search must not exceed {SEARCH_MAX} characters")));
        }
        let chats = app.store.search(text, limit).await?;
        return Ok(Json(ChatsResponse { schema: 1, chats, next: None }));
    }
    let page = match params.archived {
        None | Some(0) => app.store.chats(params.after.as_deref(), limit).await?,
        Some(1) => app.store.archived_chats(params.after.as_deref(), limit).await?,
        Some(_) => return Err(Problem::invalid("archived must be 0 or 1")),
    };
    let chats = page.chats.into_iter().map(FoundChat::from).collect();
    Ok(Json(ChatsResponse { schema: 1, chats, next: page.next }))
}

/// A chat to create.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewChat)]
pub(crate) struct CreateChat {
    /// The title. By default it is taken from the first message.
    #[serde(default)]
    #[schema(max_length = 200)]
    title: String,
}

/// Creates a chat.
#[utoipa::path(post, path = "/api/chats", tag = "chats", request_body = CreateChat, responses((status = 201, body = Chat)))]
pub(crate) async fn create(
    State(app): State<App>,
    OptionalJsonBody(new): OptionalJsonBody<CreateChat>,
) -> ApiResult<(StatusCode, Json<Chat>)> {
    let preset = app.reloadable.current().configuration.policy.preset.to_string();
    let chat = app.store.create_chat(NewChat { title: new.title, preset }).await?;
    Ok((StatusCode::CREATED, Json(chat)))
}

/// Selects messages of a chat.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessagesParams {
    /// The `before` value of the previous page, to get earlier messages.
    before: Option<u64>,
    /// The maximum number of messages, up to 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// `1`: text parts also have an `html` field, with the Markdown rendered as safe HTML.
    #[param(minimum = 0, maximum = 1)]
    html: Option<u8>,
}

/// A chat with its latest messages.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WithMessages)]
pub(crate) struct ChatResponse {
    schema: u32,
    #[serde(flatten)]
    chat: Chat,
    /// The messages, oldest first.
    #[schema(value_type = Vec<ChatMessage>)]
    messages: Messages,
    /// The `before` value for earlier messages; null if there are none.
    before: Option<u64>,
    /// The question whether a script may run, if the turn waits for an answer.
    consent: Option<ConsentQuestion>,
}

/// Messages as they are stored, or with rendered HTML.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Messages {
    Plain(Vec<ChatMessage>),
    Rendered(Vec<Value>),
}

/// A message, with its versions if there are several.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatMessage {
    #[serde(flatten)]
    message: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<MessageVersions>,
}

/// Returns a chat with its latest messages. `seq` is the number of the last event that they include; a client that follows the
/// chat starts after it.
#[utoipa::path(get, path = "/api/chats/{id}", tag = "chats", params(("id" = String, Path), MessagesParams),
    responses((status = 200, body = ChatResponse)))]
pub(crate) async fn get(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(params): QueryString<MessagesParams>,
) -> ApiResult<Json<ChatResponse>> {
    let limit = check_limit(params.limit, 100, MESSAGES_MAX)?;
    let (mut chat, page) = read_chat(&app, &id, params.before, limit).await?;
    chat.seq = page.seq;
    let MessagePage { messages, before, mut versions, .. } = page;
    let with_versions = |message: Message| ChatMessage { versions: versions.remove(&message.id), message };
    let messages: Vec<ChatMessage> = messages.into_iter().map(with_versions).collect();
    let messages = match params.html {
        None | Some(0) => Messages::Plain(messages),
        Some(1) => {
            Messages::Rendered(run_blocking(move || messages.iter().map(render_message).collect()).await?)
        }
        Some(_) => return Err(Problem::invalid("html must be 0 or 1")),
    };
    let consent = match chat.writing {
        Some(_) => app.store.question(&id).await?,
        None => None,
    };
    Ok(Json(ChatResponse { schema: 1, chat, messages, before, consent }))
}

fn render_message(message: &ChatMessage) -> Value {
    let mut message = serde_json::to_value(message).unwrap_or_default();
    for part in message.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
        let is_text = part.get("type").is_some_and(|kind| kind == "text");
        if let (true, Some(text)) = (is_text, part.get("text").and_then(Value::as_str)) {
            part["html"] = markdown::render(text).into();
        }
    }
    message
}

/// Reads a chat and its messages for clients, consistently. They are two reads, and a turn may end in between; then both are read again.
async fn read_chat(app: &App, id: &str, before: Option<u64>, limit: usize) -> ApiResult<(Chat, MessagePage)> {
    loop {
        let mut page = app.store.messages(id, before, limit).await?;
        page.messages = page.messages.into_iter().map(Message::without_seals).collect();
        let chat = app.store.chat(id).await?;
        let unfinished = page.messages.last().filter(|last| last.state == MessageState::Writing);
        if before.is_some() || chat.writing.as_ref() == unfinished.map(|last| &last.id) {
            return Ok((chat, page));
        }
    }
}

/// The changes to a chat; missing fields stay unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Change)]
pub(crate) struct ChatChange {
    /// The title.
    #[schema(max_length = 200)]
    title: Option<String>,
    /// The active skills to keep; the others are deactivated.
    activated_skill_names: Option<Vec<String>>,
    /// Whether the chat is listed first.
    pinned: Option<bool>,
    /// Whether the chat is listed only among archived chats.
    archived: Option<bool>,
}

/// Changes the title of a chat or how it is listed, or deactivates skills.
#[utoipa::path(patch, path = "/api/chats/{id}", tag = "chats", params(("id" = String, Path)), request_body = ChatChange,
    responses((status = 200, body = Chat)))]
pub(crate) async fn change(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(change): JsonBody<ChatChange>,
) -> ApiResult<Json<Chat>> {
    if let Some(kept_names) = &change.activated_skill_names {
        let mut names = app.store.chat(&id).await?.activated_skill_names;
        if let Some(unknown) = kept_names.iter().find(|name| !names.contains(name)) {
            return Err(Problem::invalid(format!(
                "{unknown} is not active in this chat; to activate a skill, start a message with /NAME"
            )));
        }
        names.retain(|name| kept_names.contains(name));
        app.store.set_skills(&id, &names).await?;
        app.store.announce(Topic::Chats);
    }
    let listing = ListingChange { pinned: change.pinned, archived: change.archived };
    if listing != ListingChange::default() {
        app.store.change_listing(&id, listing).await?;
    }
    if let Some(title) = &change.title {
        app.store.rename_chat(&id, title).await?;
    }
    Ok(Json(app.store.chat(&id).await?))
}

/// Deletes a chat and everything in it.
#[utoipa::path(delete, path = "/api/chats/{id}", tag = "chats", params(("id" = String, Path)), responses((status = 204)))]
pub(crate) async fn delete(State(app): State<App>, Path(id): Path<String>) -> ApiResult<StatusCode> {
    app.store.delete_chat(&id).await?;
    app.turns.cancel(&id, None);
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes the summary in a message, so that the messages that it replaces are shown to the model again.
#[utoipa::path(delete, path = "/api/chats/{id}/messages/{message}/summary", tag = "chats",
    params(("id" = String, Path), ("message" = String, Path)), responses((status = 204), (status = 409, body = Problem)))]
pub(crate) async fn delete_summary(
    State(app): State<App>,
    Path((id, message)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    match app.store.delete_summary(&id, &message).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::new(ErrorCode::NotFound, "the message has no summary")),
    }
}

fn check_limit(limit: Option<usize>, default: usize, max: usize) -> ApiResult<usize> {
    match limit.unwrap_or(default) {
        0 => Err(Problem::invalid("limit must be at least 1")),
        limit if limit > max => Err(Problem::invalid(format!("limit must be at most {max}"))),
        limit => Ok(limit),
    }
}
