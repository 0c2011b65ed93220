//! Chats: beginning, listing, reading, renaming, deleting.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use prowess_chat::store::{CHATS_MAX, Chat, MESSAGES_MAX, MessagePage, NewChat, Topic};
use prowess_chat::{Message, State as Written};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::asked::{Body, MaybeBody, Path, Query};
use crate::markdown;
use crate::problem::{Answer, Problem};
use crate::render::apart;

/// How many are told unless somebody says.
const USUAL: usize = 50;

/// Which chats.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// What the page before gave as `next`.
    after: Option<String>,
    /// How many, at most 200.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Some chats.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Chats {
    schema: u32,
    /// The latest first.
    chats: Vec<Chat>,
    /// What the next page begins after; null when this is the last.
    next: Option<String>,
}

/// The chats, the latest first.
#[utoipa::path(get, path = "/api/chats", tag = "chats", params(Which), responses((status = 200, body = Chats)))]
pub(crate) async fn list(State(app): State<App>, Query(which): Query<Which>) -> Answer<Json<Chats>> {
    let most = bounded(which.limit, USUAL, CHATS_MAX)?;
    let page = app.store.chats(which.after.as_deref(), most).await?;
    Ok(Json(Chats { schema: 1, chats: page.chats, next: page.next }))
}

/// A chat that is to be begun.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewChat)]
pub(crate) struct New {
    /// What people call it; without one it is called after its first message.
    #[serde(default)]
    #[schema(max_length = 200)]
    title: String,
}

/// Begins a chat.
#[utoipa::path(post, path = "/api/chats", tag = "chats", request_body = New, responses((status = 201, body = Chat)))]
pub(crate) async fn create(
    State(app): State<App>,
    MaybeBody(new): MaybeBody<New>,
) -> Answer<(StatusCode, Json<Chat>)> {
    let preset = app.live.now().configuration.policy.preset.to_string();
    let chat = app.store.create_chat(NewChat { title: new.title, preset }).await?;
    Ok((StatusCode::CREATED, Json(chat)))
}

/// Which messages of a chat.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    /// What the page before gave as `before`: earlier messages.
    before: Option<u64>,
    /// How many, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// `1`: each part that is text also has it as `html`, Markdown rendered so that it can be put into a page.
    #[param(minimum = 0, maximum = 1)]
    html: Option<u8>,
}

/// A chat with its latest messages.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WithMessages {
    schema: u32,
    #[serde(flatten)]
    chat: Chat,
    /// In the order in which they were said.
    #[serde(rename = "messages")]
    #[schema(value_type = Vec<Message>)]
    said: Messages,
    /// Where earlier messages are found; null when there are none.
    before: Option<u64>,
}

/// Messages as they were said, or with their texts as HTML.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Messages {
    Plain(Vec<Message>),
    Rendered(Vec<Value>),
}

/// A chat with its latest messages. `seq` is the number of the last event that they know of: whoever follows begins after it.
#[utoipa::path(get, path = "/api/chats/{id}", tag = "chats", params(("id" = String, Path), Said),
    responses((status = 200, body = WithMessages)))]
pub(crate) async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(said): Query<Said>,
) -> Answer<Json<WithMessages>> {
    let most = bounded(said.limit, 100, MESSAGES_MAX)?;
    let (mut chat, page) = together(&app, &id, said.before, most).await?;
    chat.seq = page.seq;
    let said = match said.html {
        None | Some(0) => Messages::Plain(page.messages),
        Some(1) => Messages::Rendered(apart(move || page.messages.iter().map(rendered).collect()).await?),
        Some(_) => return Err(Problem::invalid("html is 0 or 1")),
    };
    Ok(Json(WithMessages { schema: 1, chat, said, before: page.before }))
}

fn rendered(message: &Message) -> Value {
    let mut message = serde_json::to_value(message).unwrap_or_default();
    for part in message.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
        let is_text = part.get("type").is_some_and(|kind| kind == "text");
        if let (true, Some(text)) = (is_text, part.get("text").and_then(Value::as_str)) {
            part["html"] = markdown::render(text).into();
        }
    }
    message
}

/// A chat and its messages as they were at one moment. They are read one after the other, and an answer may end in between: then
/// they are read again.
async fn together(app: &App, id: &str, before: Option<u64>, most: usize) -> Answer<(Chat, MessagePage)> {
    loop {
        let page = app.store.messages(id, before, most).await?;
        let chat = app.store.chat(id).await?;
        let written = page.messages.last().filter(|last| last.state == Written::Writing);
        if before.is_some() || chat.writing.as_ref() == written.map(|last| &last.id) {
            return Ok((chat, page));
        }
    }
}

/// What is to be changed; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// What people call it.
    #[schema(max_length = 200)]
    title: Option<String>,
    /// The skills that stay active, of those that are: the others are let go.
    activated_skill_names: Option<Vec<String>>,
}

/// Changes the title of a chat, or lets go of active skills.
#[utoipa::path(patch, path = "/api/chats/{id}", tag = "chats", params(("id" = String, Path)), request_body = Change,
    responses((status = 200, body = Chat)))]
pub(crate) async fn change(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(change): Body<Change>,
) -> Answer<Json<Chat>> {
    if let Some(stay) = &change.activated_skill_names {
        let mut names = app.store.chat(&id).await?.activated_skill_names;
        if let Some(unknown) = stay.iter().find(|name| !names.contains(name)) {
            return Err(Problem::invalid(format!(
                "{unknown} is not active in this chat; skills are activated by calling them"
            )));
        }
        names.retain(|name| stay.contains(name));
        app.store.set_skills(&id, &names).await?;
        app.store.announce(Topic::Chats);
    }
    if let Some(title) = &change.title {
        app.store.rename_chat(&id, title).await?;
    }
    Ok(Json(app.store.chat(&id).await?))
}

/// Deletes a chat and everything in it.
#[utoipa::path(delete, path = "/api/chats/{id}", tag = "chats", params(("id" = String, Path)), responses((status = 204)))]
pub(crate) async fn delete(State(app): State<App>, Path(id): Path<String>) -> Answer<StatusCode> {
    app.store.delete_chat(&id).await?;
    app.turns.cancel(&id, None);
    Ok(StatusCode::NO_CONTENT)
}

fn bounded(asked: Option<usize>, usual: usize, most: usize) -> Answer<usize> {
    match asked.unwrap_or(usual) {
        0 => Err(Problem::invalid("limit is at least 1")),
        asked if asked > most => Err(Problem::invalid(format!("limit is at most {most}"))),
        asked => Ok(asked),
    }
}
