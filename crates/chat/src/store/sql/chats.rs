//! Chats as rows.

use super::super::chat::{Chat, ChatPage, NewChat};
use super::super::limits::{CHATS_MAX, is_id};
use super::super::{StoreError, limits};
use super::{Row, Tx, Value, from_json, to_json, values};
use crate::Usage;

/// The columns that make a [`Chat`], in the order in which [`read`] takes them.
macro_rules! columns {
    () => {
        "id, title, preset, created, updated, messages, skills, input, output, cached, turn, seq"
    };
}

fn read(mut row: Row) -> Result<Chat, StoreError> {
    Ok(Chat {
        id: row.text()?,
        title: row.text()?,
        preset: row.text()?,
        created: row.int()?,
        updated: row.int()?,
        messages: row.int()?,
        activated_skill_names: from_json(&row.text()?)?,
        usage: Usage { input: row.int()?, output: row.int()?, cached: row.int()? },
        writing: row.maybe_text()?,
        seq: row.int()?,
    })
}

pub(super) async fn create(tx: &mut dyn Tx, new: NewChat) -> Result<Chat, StoreError> {
    let (id, at) = (limits::new_id(), limits::now());
    insert(tx, &id, &new.title, &new.preset, at, at, &[]).await?;
    one(tx, id).await
}

pub(super) async fn insert(
    tx: &mut dyn Tx,
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

pub(super) async fn one(tx: &mut dyn Tx, id: String) -> Result<Chat, StoreError> {
    if !is_id(&id) {
        return Err(StoreError::NoChat);
    }
    let sql = concat!("SELECT ", columns!(), " FROM prowess_chats WHERE id = $1");
    let row = tx.query(sql, values![id]).await?.into_iter().next().ok_or(StoreError::NoChat)?;
    read(row)
}

pub(super) async fn list(
    tx: &mut dyn Tx,
    after: Option<(u64, String)>,
    most: usize,
) -> Result<ChatPage, StoreError> {
    let most = most.clamp(1, CHATS_MAX);
    let limit = Value::from(most as u64 + 1);
    let rows = match after {
        None => {
            let sql =
                concat!("SELECT ", columns!(), " FROM prowess_chats ORDER BY updated DESC, id DESC LIMIT $1");
            tx.query(sql, vec![limit]).await?
        }
        Some((updated, id)) => {
            let sql = concat!(
                "SELECT ",
                columns!(),
                " FROM prowess_chats WHERE (updated, id) < ($1, $2) ORDER BY updated DESC, id DESC LIMIT $3"
            );
            tx.query(sql, vec![updated.into(), id.into(), limit]).await?
        }
    };
    let mut chats: Vec<Chat> = rows.into_iter().map(read).collect::<Result<_, _>>()?;
    let more = chats.len() > most;
    chats.truncate(most);
    let next = chats.last().filter(|_| more).map(|last| format!("{}-{}", last.updated, last.id));
    Ok(ChatPage { chats, next })
}

/// What a page gave as `next`.
pub(super) fn cursor(text: &str) -> Result<(u64, String), StoreError> {
    let wrong = || StoreError::Invalid("this is no place in the list of chats".to_owned());
    let (updated, id) = text.split_once('-').ok_or_else(wrong)?;
    let updated = updated.parse().map_err(|_| wrong())?;
    if is_id(id) && updated <= limits::TIME_MAX { Ok((updated, id.to_owned())) } else { Err(wrong()) }
}

pub(super) async fn ids(tx: &mut dyn Tx, after: String, most: usize) -> Result<Vec<String>, StoreError> {
    let most = most.clamp(1, CHATS_MAX) as u64;
    let sql = "SELECT id FROM prowess_chats WHERE id > $1 ORDER BY id LIMIT $2";
    tx.query(sql, values![after, most]).await?.into_iter().map(|mut row| row.text()).collect()
}

pub(super) async fn count(tx: &mut dyn Tx) -> Result<u64, StoreError> {
    let rows = tx.query("SELECT COUNT(*) FROM prowess_chats", values![]).await?;
    rows.into_iter().next().map_or(Ok(0), |mut row| row.int())
}

pub(super) async fn rename(tx: &mut dyn Tx, id: String, title: String) -> Result<(), StoreError> {
    changed(tx.execute("UPDATE prowess_chats SET title = $1 WHERE id = $2", values![title, id]).await?)
}

pub(super) async fn delete(tx: &mut dyn Tx, id: String) -> Result<u64, StoreError> {
    let rows = tx.query("DELETE FROM prowess_chats WHERE id = $1 RETURNING seq", values![id]).await?;
    rows.into_iter().next().ok_or(StoreError::NoChat)?.int()
}

pub(super) async fn set_skills(tx: &mut dyn Tx, id: String, names: Vec<String>) -> Result<(), StoreError> {
    let names = to_json(&names)?;
    changed(tx.execute("UPDATE prowess_chats SET skills = $1 WHERE id = $2", values![names, id]).await?)
}

fn changed(rows: u64) -> Result<(), StoreError> {
    if rows == 0 { Err(StoreError::NoChat) } else { Ok(()) }
}
