//! Events as rows; each row is a batch.

use super::super::turn::{EventPage, NumberedEvent};
use super::super::{StoreError, limits};
use super::{SqlRow, SqlTransaction, from_json, values};
use crate::TurnEvent;

/// How many batches are read at a time.
const BATCHES_PER_PAGE: u64 = 64;

pub(super) async fn insert(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &str,
    first: u64,
    last: u64,
    body: String,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO prowess_events (chat, last, first, message, body) VALUES ($1, $2, $3, $4, $5)";
    tx.execute(sql, values![chat, last, first, message, body]).await.map(drop)
}

/// Adds the end of a turn. Its row also covers the skipped numbers before it.
pub(super) async fn insert_end(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &str,
    seq: u64,
    body: String,
) -> Result<(), StoreError> {
    let sql = "SELECT COALESCE(MAX(last), 0) FROM prowess_events WHERE chat = $1";
    let rows = tx.query(sql, values![chat]).await?;
    let last = rows.into_iter().next().map_or(Ok(0), |mut row| row.int())?;
    insert(tx, chat, message, last + 1, seq, body).await
}

/// Returns the events of a turn.
pub(super) async fn for_turn(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &str,
) -> Result<Vec<TurnEvent>, StoreError> {
    let sql = "SELECT last, body FROM prowess_events WHERE chat = $1 AND message = $2 ORDER BY last";
    let rows = tx.query(sql, values![chat, message]).await?;
    Ok(from_rows(rows)?.into_iter().map(|numbered| numbered.event).collect())
}

/// Returns the event with this number.
pub(super) async fn get(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &str,
    seq: u64,
) -> Result<Option<NumberedEvent>, StoreError> {
    let sql = "SELECT last, body FROM prowess_events WHERE chat = $1 AND message = $2 AND first <= $3 AND last >= $4";
    let rows = tx.query(sql, values![chat, message, seq, seq]).await?;
    Ok(from_rows(rows)?.into_iter().find(|numbered| numbered.seq == seq))
}

pub(super) async fn after(
    tx: &mut dyn SqlTransaction,
    chat: String,
    after: u64,
) -> Result<EventPage, StoreError> {
    if !limits::is_id(&chat) {
        return Err(StoreError::ChatNotFound);
    }
    let sql = "SELECT seq, (SELECT MIN(first) FROM prowess_events WHERE chat = $1) FROM prowess_chats WHERE id = $2";
    let rows = tx.query(sql, values![chat.as_str(), chat.as_str()]).await?;
    let mut row = rows.into_iter().next().ok_or(StoreError::ChatNotFound)?;
    let last = row.int()?;
    let first_stored = row.maybe_int()?.unwrap_or(last + 1);
    // The client got a number beyond the last event from another store.
    if after.saturating_add(1) < first_stored || after > last {
        return Ok(EventPage { events: vec![], missed: true, last });
    }
    let sql = "SELECT last, body FROM prowess_events WHERE chat = $1 AND last > $2 ORDER BY last LIMIT $3";
    let mut events = from_rows(tx.query(sql, values![chat, after, BATCHES_PER_PAGE]).await?)?;
    events.retain(|numbered| numbered.seq > after);
    Ok(EventPage { events, missed: false, last })
}

/// Deletes the events before the last turn. Their content is in the messages.
pub(super) async fn delete_old(tx: &mut dyn SqlTransaction, chat: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM prowess_events WHERE chat = $1 AND message NOT IN (
        SELECT id FROM prowess_messages WHERE chat = $2 AND role = 'assistant' ORDER BY position DESC LIMIT 1)";
    tx.execute(sql, values![chat, chat]).await.map(drop)
}

fn from_rows(rows: Vec<SqlRow>) -> Result<Vec<NumberedEvent>, StoreError> {
    let mut numbered = Vec::new();
    for mut row in rows {
        let last = row.int()?;
        let events: Vec<TurnEvent> = from_json(&row.text()?)?;
        // Skipped numbers precede the first event.
        let first = (last + 1).saturating_sub(events.len() as u64);
        numbered.extend((first..).zip(events).map(|(seq, event)| NumberedEvent { seq, event }));
    }
    Ok(numbered)
}
