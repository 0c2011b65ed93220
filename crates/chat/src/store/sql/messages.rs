//! Messages as rows.

use super::super::chat::MessagePage;
use super::super::keeper::without_those_of;
use super::super::limits::{self, MESSAGES_MAX, PAGE_BYTES};
use super::super::transfer::Record;
use super::super::{StoreError, turn};
use super::{Row, Tx, Value, chats, events, from_json, to_json, turns, values};
use crate::{Message, Part, Role, State, Usage};

/// Adds a message at a place that is free; whether its id was free, too.
pub(super) async fn insert(
    tx: &mut dyn Tx,
    chat: &str,
    position: u64,
    message: &Message,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO prowess_messages
        (id, chat, position, role, state, reason, input, output, cached, at, bytes, parts)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING";
    let parts = to_json(&message.parts)?;
    let (state, reason) = state_columns(&message.state);
    let [input, output, cached] = usage_columns(message.usage);
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
        message.at,
        parts.len() as u64,
        parts,
    ];
    Ok(tx.execute(sql, values).await? == 1)
}

/// What a person said.
pub(super) async fn say(tx: &mut dyn Tx, chat: String, text: String) -> Result<Message, StoreError> {
    let at = limits::now();
    let position = turns::claim(tx, &chat, at).await?;
    let message = Message {
        id: limits::new_id(),
        role: Role::User,
        parts: vec![Part::Text { text }],
        state: State::Complete,
        usage: None,
        at,
    };
    insert(tx, &chat, position, &message).await?;
    Ok(message)
}

/// Deletes the last message of a person and everything after it, with the skills that were activated there.
pub(super) async fn take_back(tx: &mut dyn Tx, chat: &str, message: &str) -> Result<(), StoreError> {
    // Holds the chat, and refuses while an answer is being written.
    turns::claim(tx, chat, limits::now()).await?;
    let sql =
        "SELECT id, position, role, state, reason, input, output, cached, at, parts FROM prowess_messages
        WHERE chat = $1 AND position >=
            (SELECT MAX(position) FROM prowess_messages WHERE chat = $2 AND role = 'user')
        ORDER BY position";
    let rows = tx.query(sql, values![chat, chat]).await?;
    let last: Vec<(u64, Message)> = rows.into_iter().map(read).collect::<Result<_, _>>()?;
    let Some((position, _)) = last.first().filter(|(_, asked)| asked.id == message) else {
        return Err(StoreError::Invalid("only the last message of a person can be replaced".to_owned()));
    };
    let taken: Vec<Message> = last.iter().map(|(_, message)| message.clone()).collect();
    let active = without_those_of(&chats::one(tx, chat.to_owned()).await?.activated_skill_names, &taken);
    let sql = "DELETE FROM prowess_messages WHERE chat = $1 AND position >= $2";
    tx.execute(sql, values![chat, *position]).await?;
    let sql = "UPDATE prowess_chats SET messages = $1, skills = $2 WHERE id = $3";
    tx.execute(sql, values![*position, to_json(&active)?, chat]).await.map(drop)
}

/// Nothing is read that would not be given: the sizes are added up first, from the end.
pub(super) async fn page(
    tx: &mut dyn Tx,
    chat: String,
    before: Option<u64>,
    most: usize,
) -> Result<MessagePage, StoreError> {
    let about = chats::one(tx, chat.clone()).await?;
    let most = most.clamp(1, MESSAGES_MAX) as u64;
    let before = before.unwrap_or(about.messages).min(about.messages);
    let sql = "SELECT id, position, role, state, reason, input, output, cached, at, parts FROM (
            SELECT id, position, role, state, reason, input, output, cached, at, parts, bytes,
                CAST(SUM(bytes) OVER (ORDER BY position DESC) AS BIGINT) AS total
            FROM prowess_messages WHERE chat = $1 AND position < $2 AND position >= $3) AS latest
        WHERE total - bytes < $4 ORDER BY position";
    let values = values![chat.as_str(), before, before.saturating_sub(most), PAGE_BYTES];
    let (mut messages, mut first) = (Vec::new(), None);
    for row in tx.query(sql, values).await? {
        let (position, message) = read(row)?;
        first.get_or_insert(position);
        messages.push(message);
    }
    for message in messages.iter_mut().filter(|message| message.state == State::Writing) {
        message.parts = turn::parts(events::of_turn(tx, &chat, &message.id).await?);
    }
    Ok(MessagePage { messages, before: first.filter(|first| *first > 0), seq: about.seq })
}

fn read(mut row: Row) -> Result<(u64, Message), StoreError> {
    let id = row.text()?;
    let position = row.int()?;
    let role = match row.text()?.as_str() {
        "user" => Role::User,
        _ => Role::Assistant,
    };
    let (state, reason) = (row.text()?, row.maybe_text()?);
    let state = match state.as_str() {
        "complete" => State::Complete,
        "writing" => State::Writing,
        _ => State::Interrupted { reason: reason.unwrap_or_default() },
    };
    let usage = match (row.maybe_int()?, row.maybe_int()?, row.maybe_int()?) {
        (Some(input), Some(output), Some(cached)) => Some(Usage { input, output, cached }),
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

pub(super) fn state_columns(state: &State) -> (&'static str, Option<String>) {
    match state {
        State::Complete => ("complete", None),
        State::Writing => ("writing", None),
        State::Interrupted { reason } => ("interrupted", Some(reason.clone())),
    }
}

pub(super) fn usage_columns(usage: Option<Usage>) -> [Value; 3] {
    let of = |take: fn(Usage) -> u64| Value::from(usage.map(take).map(|count| count.min(limits::TIME_MAX)));
    [of(|usage| usage.input), of(|usage| usage.output), of(|usage| usage.cached)]
}

/// Adds a whole chat that comes from elsewhere, and returns its id. An id that is taken belongs to another chat, even if it
/// looks the same.
pub(super) async fn add_record(tx: &mut dyn Tx, record: Record) -> Result<String, StoreError> {
    let Record { mut id, title, preset, created, updated, activated_skill_names: skills, messages: said } =
        record;
    if !chats::insert(tx, &id, &title, &preset, created, updated, &skills).await? {
        id = limits::new_id();
        chats::insert(tx, &id, &title, &preset, created, updated, &skills).await?;
    }
    let (count, mut cost) = (said.len() as u64, Usage::default());
    for (position, mut message) in (0..).zip(said) {
        if !insert(tx, &id, position, &message).await? {
            message.id = limits::new_id();
            insert(tx, &id, position, &message).await?;
        }
        let usage = message.usage.unwrap_or_default();
        cost.input = (cost.input + usage.input).min(limits::TIME_MAX);
        cost.output = (cost.output + usage.output).min(limits::TIME_MAX);
        cost.cached = (cost.cached + usage.cached).min(limits::TIME_MAX);
    }
    let sql = "UPDATE prowess_chats SET messages = $1, input = $2, output = $3, cached = $4 WHERE id = $5";
    tx.execute(sql, values![count, cost.input, cost.output, cost.cached, id.as_str()]).await?;
    Ok(id)
}
