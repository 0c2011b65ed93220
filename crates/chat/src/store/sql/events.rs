//! What happened in turns, as rows: a batch each.

use super::super::turn::{Events, Numbered};
use super::super::{StoreError, limits};
use super::{Row, Tx, from_json, values};
use crate::Event;

/// How many batches are read at a time.
const BATCHES: u64 = 64;

pub(super) async fn insert(
    tx: &mut dyn Tx,
    chat: &str,
    message: &str,
    first: u64,
    last: u64,
    body: String,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO prowess_events (chat, last, first, message, body) VALUES ($1, $2, $3, $4, $5)";
    tx.execute(sql, values![chat, last, first, message, body]).await.map(drop)
}

/// Adds the end of a turn, which stands for all numbers between it and the last event before it.
pub(super) async fn insert_end(
    tx: &mut dyn Tx,
    chat: &str,
    message: &str,
    seq: u64,
    body: String,
) -> Result<(), StoreError> {
    let sql = "SELECT COALESCE(MAX(last), 0) FROM prowess_events WHERE chat = $1";
    let rows = tx.query(sql, values![chat]).await?;
    let before = rows.into_iter().next().map_or(Ok(0), |mut row| row.int())?;
    insert(tx, chat, message, before + 1, seq, body).await
}

/// Those of one turn.
pub(super) async fn of_turn(tx: &mut dyn Tx, chat: &str, message: &str) -> Result<Vec<Event>, StoreError> {
    let sql = "SELECT last, body FROM prowess_events WHERE chat = $1 AND message = $2 ORDER BY last";
    let rows = tx.query(sql, values![chat, message]).await?;
    Ok(numbered(rows)?.into_iter().map(|numbered| numbered.event).collect())
}

/// The one of this number.
pub(super) async fn one(
    tx: &mut dyn Tx,
    chat: &str,
    message: &str,
    seq: u64,
) -> Result<Option<Numbered>, StoreError> {
    let sql = "SELECT last, body FROM prowess_events WHERE chat = $1 AND message = $2 AND first <= $3 AND last >= $4";
    let rows = tx.query(sql, values![chat, message, seq, seq]).await?;
    Ok(numbered(rows)?.into_iter().find(|numbered| numbered.seq == seq))
}

pub(super) async fn after(tx: &mut dyn Tx, chat: String, after: u64) -> Result<Events, StoreError> {
    if !limits::is_id(&chat) {
        return Err(StoreError::NoChat);
    }
    let sql = "SELECT seq, (SELECT MIN(first) FROM prowess_events WHERE chat = $1) FROM prowess_chats WHERE id = $2";
    let rows = tx.query(sql, values![chat.as_str(), chat.as_str()]).await?;
    let mut row = rows.into_iter().next().ok_or(StoreError::NoChat)?;
    let last = row.int()?;
    let kept_from = row.maybe_int()?.unwrap_or(last + 1);
    // Whoever asks for what is yet to come was told numbers by another store.
    if after.saturating_add(1) < kept_from || after > last {
        return Ok(Events { events: vec![], missed: true, last });
    }
    let sql = "SELECT last, body FROM prowess_events WHERE chat = $1 AND last > $2 ORDER BY last LIMIT $3";
    let mut events = numbered(tx.query(sql, values![chat, after, BATCHES]).await?)?;
    events.retain(|numbered| numbered.seq > after);
    Ok(Events { events, missed: false, last })
}

/// Forgets what happened before the last turn. What was said stays: it is in the messages.
pub(super) async fn forget(tx: &mut dyn Tx, chat: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM prowess_events WHERE chat = $1 AND message NOT IN (
        SELECT id FROM prowess_messages WHERE chat = $2 AND role = 'assistant' ORDER BY position DESC LIMIT 1)";
    tx.execute(sql, values![chat, chat]).await.map(drop)
}

fn numbered(rows: Vec<Row>) -> Result<Vec<Numbered>, StoreError> {
    let mut all = Vec::new();
    for mut row in rows {
        let last = row.int()?;
        let events: Vec<Event> = from_json(&row.text()?)?;
        // Numbers that were left out stand before the first.
        let first = (last + 1).saturating_sub(events.len() as u64);
        all.extend((first..).zip(events).map(|(seq, event)| Numbered { seq, event }));
    }
    Ok(all)
}
