//! Chats as rows.

use super::super::chat::{Chat, ChatPage, NewChat};
use super::super::limits::{CHATS_MAX, is_id};
use super::super::{StoreError, limits};
use super::{SqlRow, SqlTransaction, SqlValue, from_json, to_json, values};
use crate::TokenUsage;

/// The columns of a [`Chat`], in the order of [`chat_from_row`].
macro_rules! columns {
    () => {
        "id, title, preset, created, updated, messages, skills, input, output, cached, cache_writes, turn, seq"
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
        writing: row.maybe_text()?,
        seq: row.int()?,
    })
}

pub(super) async fn create(tx: &mut dyn SqlTransaction, properties: NewChat) -> Result<Chat, StoreError> {
    let (id, now) = (limits::new_id(), limits::now_millis());
    insert(tx, &id, &properties.title, &properties.preset, now, now, &[]).await?;
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

pub(super) async fn list(
    tx: &mut dyn SqlTransaction,
    after: Option<(u64, String)>,
    limit: usize,
) -> Result<ChatPage, StoreError> {
    let limit = limit.clamp(1, CHATS_MAX);
    let row_limit = SqlValue::from(limit as u64 + 1);
    let rows = match after {
        None => {
            let sql =
                concat!("SELECT ", columns!(), " FROM prowess_chats ORDER BY updated DESC, id DESC LIMIT $1");
            tx.query(sql, vec![row_limit]).await?
        }
        Some((updated, id)) => {
            let sql = concat!(
                "SELECT ",
                columns!(),
                " FROM prowess_chats WHERE (updated, id) < ($1, $2) ORDER BY updated DESC, id DESC LIMIT $3"
            );
            tx.query(sql, vec![updated.into(), id.into(), row_limit]).await?
        }
    };
    let mut chats: Vec<Chat> = rows.into_iter().map(chat_from_row).collect::<Result<_, _>>()?;
    let more = chats.len() > limit;
    chats.truncate(limit);
    let next = chats.last().filter(|_| more).map(|last| format!("{}-{}", last.updated, last.id));
    Ok(ChatPage { chats, next })
}

/// Parses the `next` cursor of a page.
pub(super) fn parse_cursor(text: &str) -> Result<(u64, String), StoreError> {
    let invalid = || StoreError::Invalid("this is not a valid cursor of the list of chats".to_owned());
    let (updated, id) = text.split_once('-').ok_or_else(invalid)?;
    let updated = updated.parse().map_err(|_| invalid())?;
    if is_id(id) && updated <= limits::TIME_MAX { Ok((updated, id.to_owned())) } else { Err(invalid()) }
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
    check_found(tx.execute("UPDATE prowess_chats SET title = $1 WHERE id = $2", values![title, id]).await?)
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
