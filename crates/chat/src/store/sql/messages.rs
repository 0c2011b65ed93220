//! Messages as rows.

use std::collections::BTreeMap;

use super::super::chat::{ListingChange, MessagePage};
use super::super::limits::{self, MESSAGES_MAX, PAGE_BYTES};
use super::super::transfer::ExportedChat;
use super::super::{StoreError, turn};
use super::{
    SqlRow, SqlTransaction, SqlValue, branches, chats, events, files, from_json, search, to_json, turns,
    values,
};
use crate::{Message, MessageState, Part, Role, TokenUsage};

/// The columns of a [`Message`] and its position, in the order of [`message_from_row`].
macro_rules! columns {
    () => {
        "id, position, role, state, reason, input, output, cached, cache_writes, at, parts"
    };
}

/// Adds a message at a free position. Returns `false` if its id is taken.
pub(super) async fn insert(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    position: u64,
    message: &Message,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO prowess_messages
        (id, chat, position, role, state, reason, input, output, cached, cache_writes, at, bytes, parts)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (id) DO NOTHING";
    let parts = to_json(&message.parts)?;
    let (state, reason) = state_columns(&message.state);
    let [input, output, cached, cache_writes] = usage_columns(message.usage);
    let values = values![
        message.id.as_str(),
        chat,
        position,
        role_column(message.role),
        state,
        reason,
        input,
        output,
        cached,
        cache_writes,
        message.at,
        parts.len() as u64,
        parts,
    ];
    Ok(tx.execute(sql, values).await? == 1)
}

/// Adds a message of the user.
pub(super) async fn insert_user_message(
    tx: &mut dyn SqlTransaction,
    chat: String,
    text: String,
    attached: Vec<String>,
) -> Result<Message, StoreError> {
    let now = limits::now_millis();
    let position = turns::claim(tx, &chat, now).await?;
    let mut parts = vec![Part::Text { text }];
    parts.extend(files::to_parts(tx, &chat, attached).await?);
    let message = Message {
        id: limits::new_id(),
        role: Role::User,
        parts,
        state: MessageState::Complete,
        usage: None,
        at: now,
    };
    insert(tx, &chat, position, &message).await?;
    search::add_message(tx, &chat, &message).await?;
    Ok(message)
}

/// Returns the position of a message in the path.
pub(super) async fn position(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    id: &str,
) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT position FROM prowess_messages WHERE id = $1 AND chat = $2";
    tx.query(sql, values![id, chat]).await?.into_iter().next().map(|mut row| row.int()).transpose()
}

/// Returns the messages of the path from a position on.
pub(super) async fn from_position(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    position: u64,
) -> Result<Vec<Message>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM prowess_messages WHERE chat = $1 AND position >= $2 ORDER BY position"
    );
    let rows = tx.query(sql, values![chat, position]).await?;
    rows.into_iter().map(|row| Ok(message_from_row(row)?.1)).collect()
}

/// Returns a message of the path.
pub(super) async fn get(tx: &mut dyn SqlTransaction, id: &str) -> Result<Option<Message>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM prowess_messages WHERE id = $1");
    let row = tx.query(sql, values![id]).await?.into_iter().next();
    row.map(|row| Ok(message_from_row(row)?.1)).transpose()
}

/// Deletes the summaries in a message. Returns `false` if there are none.
pub(super) async fn delete_summary(
    tx: &mut dyn SqlTransaction,
    chat: String,
    message: String,
) -> Result<bool, StoreError> {
    chats::get(tx, chat.clone()).await?;
    let sql = "SELECT state, parts FROM prowess_messages WHERE chat = $1 AND id = $2";
    let rows = tx.query(sql, values![chat.as_str(), message.as_str()]).await?;
    let Some(mut row) = rows.into_iter().next() else { return Ok(false) };
    if row.text()? == "writing" {
        return Err(StoreError::TurnInProgress);
    }
    let mut parts: Vec<Part> = from_json(&row.text()?)?;
    let before = parts.len();
    parts.retain(|part| !matches!(part, Part::Summary { .. }));
    if parts.len() == before {
        return Ok(false);
    }
    let parts = to_json(&parts)?;
    let sql = "UPDATE prowess_messages SET parts = $1, bytes = $2 WHERE chat = $3 AND id = $4";
    let bytes = parts.len() as u64;
    Ok(tx.execute(sql, values![parts, bytes, chat, message]).await? == 1)
}

/// Returns a page. Sizes are added up from the newest message back to the limit, so that only returned messages are read.
pub(super) async fn page(
    tx: &mut dyn SqlTransaction,
    chat: String,
    before: Option<u64>,
    limit: usize,
) -> Result<MessagePage, StoreError> {
    let info = chats::get(tx, chat.clone()).await?;
    let limit = limit.clamp(1, MESSAGES_MAX) as u64;
    let before = before.unwrap_or(info.messages).min(info.messages);
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM (SELECT ",
        columns!(),
        ", bytes, CAST(SUM(bytes) OVER (ORDER BY position DESC) AS BIGINT) AS total
            FROM prowess_messages WHERE chat = $1 AND position < $2 AND position >= $3) AS latest
        WHERE total - bytes < $4 ORDER BY position"
    );
    let values = values![chat.as_str(), before, before.saturating_sub(limit), PAGE_BYTES];
    let (mut messages, mut first) = (Vec::new(), None);
    for row in tx.query(sql, values).await? {
        let (position, message) = message_from_row(row)?;
        first.get_or_insert(position);
        messages.push(message);
    }
    for message in messages.iter_mut().filter(|message| message.state == MessageState::Writing) {
        message.parts = turn::to_parts(events::for_turn(tx, &chat, &message.id).await?);
    }
    let versions =
        branches::versions(tx, &chat, first.unwrap_or(before), before).await?.into_iter().collect();
    Ok(MessagePage { messages, before: first.filter(|first| *first > 0), seq: info.seq, versions })
}

fn message_from_row(mut row: SqlRow) -> Result<(u64, Message), StoreError> {
    let id = row.text()?;
    let position = row.int()?;
    let role = match row.text()?.as_str() {
        "user" => Role::User,
        _ => Role::Assistant,
    };
    let (state, reason) = (row.text()?, row.maybe_text()?);
    let state = match state.as_str() {
        "complete" => MessageState::Complete,
        "writing" => MessageState::Writing,
        _ => MessageState::Interrupted { reason: reason.unwrap_or_default() },
    };
    let (counts, cache_writes) = ((row.maybe_int()?, row.maybe_int()?, row.maybe_int()?), row.maybe_int()?);
    let usage = match counts {
        (Some(input), Some(output), Some(cached)) => {
            // Messages of earlier versions have no count.
            Some(TokenUsage { input, output, cached, cache_writes: cache_writes.unwrap_or_default() })
        }
        _ => None,
    };
    let at = row.int()?;
    let parts = from_json(&row.text()?)?;
    Ok((position, Message { id, role, parts, state, usage, at }))
}

fn role_column(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

pub(super) fn state_columns(state: &MessageState) -> (&'static str, Option<String>) {
    match state {
        MessageState::Complete => ("complete", None),
        MessageState::Writing => ("writing", None),
        MessageState::Interrupted { reason } => ("interrupted", Some(reason.clone())),
    }
}

pub(super) fn usage_columns(usage: Option<TokenUsage>) -> [SqlValue; 4] {
    let count = |field: fn(TokenUsage) -> u64| {
        SqlValue::from(usage.map(field).map(|count| count.min(limits::TOKENS_MAX)))
    };
    [
        count(|usage| usage.input),
        count(|usage| usage.output),
        count(|usage| usage.cached),
        count(|usage| usage.cache_writes),
    ]
}

/// Adds a whole chat from elsewhere and returns its id. If the id is taken, the chat gets a new one, even if the content
/// is the same.
pub(super) async fn add_exported_chat(
    tx: &mut dyn SqlTransaction,
    record: ExportedChat,
) -> Result<String, StoreError> {
    let ExportedChat {
        mut id,
        title,
        preset,
        created,
        updated,
        activated_skill_names: skills,
        messages,
        files: exported_files,
        branches: exported_branches,
        pinned,
        archived,
    } = record;
    if !chats::insert(tx, &id, &title, &preset, created, updated, &skills).await? {
        id = limits::new_id();
        chats::insert(tx, &id, &title, &preset, created, updated, &skills).await?;
    }
    search::set_title(tx, &id, &title).await?;
    let listing = ListingChange { pinned: Some(pinned), archived: Some(archived) };
    chats::change_listing(tx, id.clone(), listing).await?;
    let (count, mut total) = (messages.len() as u64, TokenUsage::default());
    // A message whose id is taken gets a new one, which summaries must name.
    let mut new_ids: BTreeMap<String, String> = BTreeMap::new();
    for (position, mut message) in (0..).zip(messages) {
        message.rename_summarized(&new_ids);
        if !insert(tx, &id, position, &message).await? {
            let original = std::mem::replace(&mut message.id, limits::new_id());
            insert(tx, &id, position, &message).await?;
            new_ids.insert(original, message.id.clone());
        }
        search::add_message(tx, &id, &message).await?;
        total.add(message.usage.unwrap_or_default());
    }
    let [input, output, cached, cache_writes] = usage_columns(Some(total));
    let sql =
        "UPDATE prowess_chats SET messages = $1, input = $2, output = $3, cached = $4, cache_writes = $5
        WHERE id = $6";
    let values = vec![count.into(), input, output, cached, cache_writes, id.as_str().into()];
    tx.execute(sql, values).await?;
    branches::import(tx, &id, exported_branches, new_ids).await?;
    for file in exported_files {
        files::insert(tx, &id, &file.entry, &file.content).await?;
    }
    Ok(id)
}
