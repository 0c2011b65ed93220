//! Turns: one at a time in a chat, each written by one process, its owner, and ended once.

use super::super::StoreError;
use super::super::limits::{self, STORED_MESSAGE_MAX, is_id};
use super::super::turn::{self, NumberedEvent, StoredTurn};
use super::{SqlTransaction, SqlValue, events, from_json, messages, search, to_json, values};
use crate::{Message, MessageState, Role, TurnEvent, TurnOutcome};

/// How many numbers are skipped before an end that another process gives a turn. The writer may have shown that many
/// events that are not stored: a batch of single characters, and a full queue. Clients that saw them would miss an end
/// with one of their numbers.
const UNSTORED_MAX: u64 = 32_768;

/// Who ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndedBy {
    /// The writer, with the number after its last event.
    Writer(u64),
    /// Another process: it stops the turn, or the writer has exited.
    Others,
}

/// Reserves the next position of a chat and locks the chat until the end of the transaction. An abandoned turn is ended
/// first.
pub(super) async fn claim(tx: &mut dyn SqlTransaction, chat: &str, now: u64) -> Result<u64, StoreError> {
    if !is_id(chat) {
        return Err(StoreError::ChatNotFound);
    }
    let sql = "UPDATE prowess_chats SET messages = messages + 1, updated = $1 WHERE id = $2
        RETURNING messages, turn, turn_owner";
    let mut row =
        tx.query(sql, values![now, chat]).await?.into_iter().next().ok_or(StoreError::ChatNotFound)?;
    let position = row.int()?.saturating_sub(1);
    if let (Some(message), Some(owner)) = (row.maybe_text()?, row.maybe_text()?) {
        if !tx.is_gone(&owner).await? {
            return Err(StoreError::TurnInProgress);
        }
        end_if_current(tx, chat, &message, &TurnOutcome::abandoned(), EndedBy::Others).await?;
    }
    Ok(position)
}

pub(super) async fn begin(
    tx: &mut dyn SqlTransaction,
    chat: String,
    owner: String,
) -> Result<StoredTurn, StoreError> {
    let now = limits::now_millis();
    let position = claim(tx, &chat, now).await?;
    let message = Message {
        id: limits::new_id(),
        role: Role::Assistant,
        parts: vec![],
        state: MessageState::Writing,
        usage: None,
        at: now,
    };
    // Events before the last turn are no longer followed.
    events::delete_old(tx, &chat).await?;
    messages::insert(tx, &chat, position, &message).await?;
    let sql =
        "UPDATE prowess_chats SET turn = $1, turn_owner = $2, turn_bytes = 0 WHERE id = $3 RETURNING seq";
    let rows = tx.query(sql, values![message.id.as_str(), owner, chat.as_str()]).await?;
    let seq = rows.into_iter().next().ok_or(StoreError::ChatNotFound)?.int()?;
    Ok(StoredTurn { chat, message: message.id, first: seq + 1 })
}

/// Adds events starting with the number `from` and returns the number of the last one.
pub(super) async fn append(
    tx: &mut dyn SqlTransaction,
    turn: StoredTurn,
    from: u64,
    mut new_events: Vec<TurnEvent>,
) -> Result<u64, StoreError> {
    let sql = "SELECT seq, turn_bytes FROM prowess_chats WHERE id = $1 AND turn = $2";
    let rows = tx.query(sql, values![turn.chat.as_str(), turn.message.as_str()]).await?;
    let Some(mut row) = rows.into_iter().next() else { return Err(write_error(tx, &turn).await?) };
    let (seq, bytes_before) = (row.int()?, row.int()?);
    let already_stored = (seq + 1).checked_sub(from).ok_or_else(|| {
        StoreError::Internal(format!("event {from} does not follow {seq}: some events are missing"))
    })?;
    new_events.drain(..usize::try_from(already_stored).unwrap_or(usize::MAX).min(new_events.len()));
    if new_events.is_empty() {
        return Ok(seq);
    }
    let body = to_json(&new_events)?;
    let bytes = bytes_before + body.len() as u64;
    if bytes > 2 * STORED_MESSAGE_MAX {
        return Err(StoreError::TooLarge { subject: "the reply", bytes, max: 2 * STORED_MESSAGE_MAX });
    }
    let last = seq + new_events.len() as u64;
    // Only this process adds events to the turn, but another one may end it concurrently.
    let sql = "UPDATE prowess_chats SET seq = $1, turn_bytes = $2 WHERE id = $3 AND turn = $4 AND seq = $5";
    let values = values![last, bytes, turn.chat.as_str(), turn.message.as_str(), seq];
    if tx.execute(sql, values).await? == 0 {
        return Err(write_error(tx, &turn).await?);
    }
    events::insert(tx, &turn.chat, &turn.message, seq + 1, last, body).await?;
    Ok(last)
}

/// Ends a turn with the number `from` or a higher one. A repeated call returns the same event.
pub(super) async fn end(
    tx: &mut dyn SqlTransaction,
    turn: StoredTurn,
    from: u64,
    outcome: TurnOutcome,
) -> Result<NumberedEvent, StoreError> {
    if let Some(last) = end_if_current(tx, &turn.chat, &turn.message, &outcome, EndedBy::Writer(from)).await?
    {
        return Ok(last);
    }
    let error = write_error(tx, &turn).await?;
    let last = events::get(tx, &turn.chat, &turn.message, from).await?;
    match last.filter(|last| matches!(last.event, TurnEvent::Done { .. } | TurnEvent::Error { .. })) {
        Some(last) if last.event == outcome.to_event(&turn.message, skills_of(&last.event)) => Ok(last),
        _ => Err(error),
    }
}

fn skills_of(event: &TurnEvent) -> Vec<String> {
    match event {
        TurnEvent::Done { activated_skill_names, .. } => activated_skill_names.clone(),
        _ => vec![],
    }
}

/// Ends the turn of a chat if it is this one.
pub(super) async fn end_if_current(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &str,
    outcome: &TurnOutcome,
    ended_by: EndedBy,
) -> Result<Option<NumberedEvent>, StoreError> {
    let [input, output, cached, cache_writes] = messages::usage_columns(outcome.usage());
    let sql = "UPDATE prowess_chats SET seq = CASE WHEN seq + $1 < $2 THEN $3 ELSE seq + $4 END,
            turn = NULL, turn_owner = NULL, turn_bytes = 0, updated = $5,
            input = input + COALESCE(CAST($6 AS BIGINT), 0), output = output + COALESCE(CAST($7 AS BIGINT), 0),
            cached = cached + COALESCE(CAST($8 AS BIGINT), 0),
            cache_writes = cache_writes + COALESCE(CAST($9 AS BIGINT), 0)
        WHERE id = $10 AND turn = $11 RETURNING seq, skills";
    let (step, min_seq) = match ended_by {
        EndedBy::Writer(from) => (1, from),
        EndedBy::Others => (1 + UNSTORED_MAX, 0),
    };
    let values = vec![
        SqlValue::from(step),
        min_seq.into(),
        min_seq.into(),
        step.into(),
        limits::now_millis().into(),
        input.clone(),
        output.clone(),
        cached.clone(),
        cache_writes.clone(),
        chat.into(),
        message.into(),
    ];
    let Some(mut row) = tx.query(sql, values).await?.into_iter().next() else { return Ok(None) };
    let (seq, skills) = (row.int()?, row.text()?);
    let event = outcome.to_event(message, from_json(&skills)?);
    let parts = turn::to_parts(events::for_turn(tx, chat, message).await?);
    let stored_parts = to_json(&parts)?;
    events::insert_end(tx, chat, message, seq, to_json(&[&event])?).await?;
    let (state, reason) = messages::state_columns(&outcome.message_state());
    let sql = "UPDATE prowess_messages
        SET state = $1, reason = $2, input = $3, output = $4, cached = $5, cache_writes = $6, bytes = $7, parts = $8
        WHERE id = $9";
    let values: Vec<SqlValue> = vec![
        state.into(),
        reason.into(),
        input,
        output,
        cached,
        cache_writes,
        (stored_parts.len() as u64).into(),
        stored_parts.into(),
        message.into(),
    ];
    tx.execute(sql, values).await?;
    search::add(tx, chat, message, &parts).await?;
    Ok(Some(NumberedEvent { seq, event }))
}

/// Ends the current turn of a chat.
pub(super) async fn stop(
    tx: &mut dyn SqlTransaction,
    chat: String,
    outcome: TurnOutcome,
) -> Result<Option<u64>, StoreError> {
    let rows = tx.query("SELECT turn FROM prowess_chats WHERE id = $1", values![chat.as_str()]).await?;
    match rows.into_iter().next().ok_or(StoreError::ChatNotFound)?.maybe_text()? {
        None => Ok(None),
        Some(message) => {
            Ok(end_if_current(tx, &chat, &message, &outcome, EndedBy::Others).await?.map(|last| last.seq))
        }
    }
}

/// Returns the owners of current turns.
pub(super) async fn owners(tx: &mut dyn SqlTransaction) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT DISTINCT turn_owner FROM prowess_chats WHERE turn_owner IS NOT NULL";
    tx.query(sql, vec![]).await?.into_iter().map(|mut row| row.text()).collect()
}

/// Ends the turns of processes that have exited. Returns the chats and the numbers of their last events.
pub(super) async fn sweep(tx: &mut dyn SqlTransaction) -> Result<Vec<(String, u64)>, StoreError> {
    let mut ended = Vec::new();
    for owner in owners(tx).await? {
        if !tx.is_gone(&owner).await? {
            continue;
        }
        // In a fixed order, so that two processes do not deadlock.
        let sql = "SELECT id, turn FROM prowess_chats WHERE turn_owner = $1 ORDER BY id";
        for mut row in tx.query(sql, values![owner]).await? {
            let (chat, Some(message)) = (row.text()?, row.maybe_text()?) else { continue };
            if let Some(last) =
                end_if_current(tx, &chat, &message, &TurnOutcome::abandoned(), EndedBy::Others).await?
            {
                ended.push((chat, last.seq));
            }
        }
    }
    Ok(ended)
}

/// Sets the active skills of a chat, if the turn is still its current one.
pub(super) async fn set_skills(
    tx: &mut dyn SqlTransaction,
    turn: StoredTurn,
    names: Vec<String>,
) -> Result<(), StoreError> {
    let sql = "UPDATE prowess_chats SET skills = $1 WHERE id = $2 AND turn = $3";
    let values = values![to_json(&names)?, turn.chat.as_str(), turn.message.as_str()];
    if tx.execute(sql, values).await? == 0 { Err(write_error(tx, &turn).await?) } else { Ok(()) }
}

/// Returns why a turn cannot be written to.
pub(super) async fn write_error(
    tx: &mut dyn SqlTransaction,
    turn: &StoredTurn,
) -> Result<StoreError, StoreError> {
    let rows = tx.query("SELECT id FROM prowess_chats WHERE id = $1", values![turn.chat.as_str()]).await?;
    Ok(if rows.is_empty() { StoreError::ChatNotFound } else { StoreError::TurnEnded })
}
