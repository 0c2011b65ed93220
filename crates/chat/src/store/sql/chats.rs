//! Chats as rows.

use super::super::chat::{Chat, ChatPage, ListingChange, NewChat};
use super::super::limits::{CHATS_MAX, is_id};
use super::super::{StoreError, limits};
use super::{SqlRow, SqlTransaction, from_json, search, to_json, values};
use crate::TokenUsage;

/// The columns of a [`Chat`], in the order of [`chat_from_row`].
macro_rules! columns {
    () => {
        "id, title, preset, created, updated, messages, skills, input, output, cached, cache_writes, pinned, archived, turn, seq"
    };
}

fn chat_from_row(mut row: SqlRow) -> Result<Chat, StoreError> {
    Ok(Chat {
        id: row.text()?,
        title: row.text()?,
        preset: row.text()?,
        created: row.int()?,
        updated: row.int()?,
        messages: row.int()?,
        activated_skill_names: from_json(&row.text()?)?,
        usage: TokenUsage {
            input: row.int()?,
            output: row.int()?,
            cached: row.int()?,
            cache_writes: row.int()?,
        },
        pinned: row.int()? > 0,
        archived: row.int()? > 0,
        writing: row.maybe_text()?,
        seq: row.int()?,
    })
}

pub(super) async fn create(tx: &mut dyn SqlTransaction, properties: NewChat) -> Result<Chat, StoreError> {
    let (id, now) = (limits::new_id(), limits::now_millis());
    insert(tx, &id, &properties.title, &properties.preset, now, now, &[]).await?;
    search::set_title(tx, &id, &properties.title).await?;
    get(tx, id).await
}

pub(super) async fn insert(
    tx: &mut dyn SqlTransaction,
    id: &str,
    title: &str,
    preset: &str,
    created: u64,
    updated: u64,
    skills: &[String],
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO prowess_chats
        (id, title, preset, created, updated, messages, seq, skills, input, output, cached, turn_bytes)
        VALUES ($1, $2, $3, $4, $5, 0, 0, $6, 0, 0, 0, 0) ON CONFLICT (id) DO NOTHING";
    let values = values![id, title, preset, created, updated, to_json(skills)?];
    Ok(tx.execute(sql, values).await? == 1)
}

pub(super) async fn get(tx: &mut dyn SqlTransaction, id: String) -> Result<Chat, StoreError> {
    if !is_id(&id) {
        return Err(StoreError::ChatNotFound);
    }
    let sql = concat!("SELECT ", columns!(), " FROM prowess_chats WHERE id = $1");
    let row = tx.query(sql, values![id]).await?.into_iter().next().ok_or(StoreError::ChatNotFound)?;
    chat_from_row(row)
}

/// A position in the list of chats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    pinned: u64,
    updated: u64,
    id: String,
}

impl Cursor {
    /// Before the first chat.
    pub(super) fn start() -> Self {
        Self { pinned: 2, updated: 0, id: String::new() }
    }
}

pub(super) async fn list(
    tx: &mut dyn SqlTransaction,
    archived: bool,
    after: Cursor,
    limit: usize,
) -> Result<ChatPage, StoreError> {
    let limit = limit.clamp(1, CHATS_MAX);
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM prowess_chats WHERE archived = $1 AND (pinned, updated, id) < ($2, $3, $4)
        ORDER BY pinned DESC, updated DESC, id DESC LIMIT $5"
    );
    let values = values![u64::from(archived), after.pinned, after.updated, after.id, limit as u64 + 1];
    let rows = tx.query(sql, values).await?;
    let mut chats: Vec<Chat> = rows.into_iter().map(chat_from_row).collect::<Result<_, _>>()?;
    let more = chats.len() > limit;
    chats.truncate(limit);
    let cursor = |last: &Chat| match last.pinned {
        true => format!("p{}-{}", last.updated, last.id),
        false => format!("{}-{}", last.updated, last.id),
    };
    let next = chats.last().filter(|_| more).map(cursor);
    Ok(ChatPage { chats, next })
}

/// Parses the `next` cursor of a page.
pub(super) fn parse_cursor(text: &str) -> Result<Cursor, StoreError> {
    let invalid = || StoreError::Invalid("this is not a valid cursor of the list of chats".to_owned());
    let (pinned, text) = text.strip_prefix('p').map_or((0, text), |rest| (1, rest));
    let (updated, id) = text.split_once('-').ok_or_else(invalid)?;
    let updated = updated.parse().map_err(|_| invalid())?;
    match is_id(id) && updated <= limits::TIME_MAX {
        true => Ok(Cursor { pinned, updated, id: id.to_owned() }),
        false => Err(invalid()),
    }
}

pub(super) async fn ids(
    tx: &mut dyn SqlTransaction,
    after: String,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let limit = limit.clamp(1, CHATS_MAX) as u64;
    let sql = "SELECT id FROM prowess_chats WHERE id > $1 ORDER BY id LIMIT $2";
    tx.query(sql, values![after, limit]).await?.into_iter().map(|mut row| row.text()).collect()
}

pub(super) async fn count(tx: &mut dyn SqlTransaction) -> Result<u64, StoreError> {
    let rows = tx.query("SELECT COUNT(*) FROM prowess_chats", values![]).await?;
    rows.into_iter().next().map_or(Ok(0), |mut row| row.int())
}

pub(super) async fn rename(tx: &mut dyn SqlTransaction, id: String, title: String) -> Result<(), StoreError> {
    let sql = "UPDATE prowess_chats SET title = $1 WHERE id = $2";
    check_found(tx.execute(sql, values![title.as_str(), id.as_str()]).await?)?;
    search::set_title(tx, &id, &title).await
}

pub(super) async fn change_listing(
    tx: &mut dyn SqlTransaction,
    id: String,
    change: ListingChange,
) -> Result<(), StoreError> {
    let sql = "UPDATE prowess_chats SET pinned = COALESCE(CAST($1 AS BIGINT), pinned),
        archived = COALESCE(CAST($2 AS BIGINT), archived) WHERE id = $3";
    let values = values![change.pinned.map(u64::from), change.archived.map(u64::from), id];
    check_found(tx.execute(sql, values).await?)
}

pub(super) async fn delete(tx: &mut dyn SqlTransaction, id: String) -> Result<u64, StoreError> {
    let rows = tx.query("DELETE FROM prowess_chats WHERE id = $1 RETURNING seq", values![id]).await?;
    rows.into_iter().next().ok_or(StoreError::ChatNotFound)?.int()
}

pub(super) async fn set_skills(
    tx: &mut dyn SqlTransaction,
    id: String,
    names: Vec<String>,
) -> Result<(), StoreError> {
    let names = to_json(&names)?;
    check_found(tx.execute("UPDATE prowess_chats SET skills = $1 WHERE id = $2", values![names, id]).await?)
}

fn check_found(rows: u64) -> Result<(), StoreError> {
    if rows == 0 { Err(StoreError::ChatNotFound) } else { Ok(()) }
}
