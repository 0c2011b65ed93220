//! Turns: one at a time in a chat, each by one process, each ended once.

use super::super::StoreError;
use super::super::limits::{self, MESSAGE_MAX, is_id};
use super::super::turn::{self, Numbered, Turn};
use super::{Tx, Value, events, from_json, messages, to_json, values};
use crate::{Ending, Event, Message, Role, State};

/// How many numbers are left out before the end that somebody else gives a turn. Whoever wrote it may have told that many events
/// that are not kept: a batch of single characters, and as many as may wait behind it. Those who saw them would never see the end
/// if it had one of their numbers.
const UNSEEN_MAX: u64 = 32_768;

/// Who ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Whoever writes it, and knows which number comes after all that was told.
    Itself(u64),
    /// Somebody who stops it, or who found that its process is gone.
    Others,
}

/// Takes the next place in a chat that nobody writes in, and holds the chat until the transaction is over. A turn whose process
/// is gone is ended first.
pub(super) async fn claim(tx: &mut dyn Tx, chat: &str, at: u64) -> Result<u64, StoreError> {
    if !is_id(chat) {
        return Err(StoreError::NoChat);
    }
    let sql = "UPDATE prowess_chats SET messages = messages + 1, updated = $1 WHERE id = $2
        RETURNING messages, turn, turn_owner";
    let mut row = tx.query(sql, values![at, chat]).await?.into_iter().next().ok_or(StoreError::NoChat)?;
    let position = row.int()?.saturating_sub(1);
    if let (Some(message), Some(owner)) = (row.maybe_text()?, row.maybe_text()?) {
        if !tx.is_gone(&owner).await? {
            return Err(StoreError::Writing);
        }
        end_now(tx, chat, &message, &Ending::abandoned(), By::Others).await?;
    }
    Ok(position)
}

pub(super) async fn begin(tx: &mut dyn Tx, chat: String, owner: String) -> Result<Turn, StoreError> {
    let at = limits::now();
    let position = claim(tx, &chat, at).await?;
    let message = Message {
        id: limits::new_id(),
        role: Role::Assistant,
        parts: vec![],
        state: State::Writing,
        usage: None,
        at,
    };
    // What came before the last turn is not followed any more.
    events::forget(tx, &chat).await?;
    messages::insert(tx, &chat, position, &message).await?;
    let sql =
        "UPDATE prowess_chats SET turn = $1, turn_owner = $2, turn_bytes = 0 WHERE id = $3 RETURNING seq";
    let rows = tx.query(sql, values![message.id.as_str(), owner, chat.as_str()]).await?;
    let seq = rows.into_iter().next().ok_or(StoreError::NoChat)?.int()?;
    Ok(Turn { chat, message: message.id, first: seq + 1 })
}

/// Adds events whose first has the number `from`; the number of the last.
pub(super) async fn append(
    tx: &mut dyn Tx,
    turn: Turn,
    from: u64,
    mut all: Vec<Event>,
) -> Result<u64, StoreError> {
    let sql = "SELECT seq, turn_bytes FROM prowess_chats WHERE id = $1 AND turn = $2";
    let rows = tx.query(sql, values![turn.chat.as_str(), turn.message.as_str()]).await?;
    let Some(mut row) = rows.into_iter().next() else { return Err(why_not(tx, &turn).await?) };
    let (seq, before) = (row.int()?, row.int()?);
    let known = (seq + 1)
        .checked_sub(from)
        .ok_or_else(|| StoreError::Internal(format!("event {from} comes after {seq}: some are missing")))?;
    all.drain(..usize::try_from(known).unwrap_or(usize::MAX).min(all.len()));
    if all.is_empty() {
        return Ok(seq);
    }
    let body = to_json(&all)?;
    let bytes = before + body.len() as u64;
    if bytes > 2 * MESSAGE_MAX {
        return Err(StoreError::TooLarge { what: "the answer", bytes, most: 2 * MESSAGE_MAX });
    }
    let last = seq + all.len() as u64;
    // Nobody else adds events to this turn, but somebody may end it at this moment.
    let sql = "UPDATE prowess_chats SET seq = $1, turn_bytes = $2 WHERE id = $3 AND turn = $4 AND seq = $5";
    let values = values![last, bytes, turn.chat.as_str(), turn.message.as_str(), seq];
    if tx.execute(sql, values).await? == 0 {
        return Err(why_not(tx, &turn).await?);
    }
    events::insert(tx, &turn.chat, &turn.message, seq + 1, last, body).await?;
    Ok(last)
}

/// Ends a turn; the end has the number `from`, or a higher one. Whoever asks again is told the same.
pub(super) async fn end(
    tx: &mut dyn Tx,
    turn: Turn,
    from: u64,
    ending: Ending,
) -> Result<Numbered, StoreError> {
    if let Some(last) = end_now(tx, &turn.chat, &turn.message, &ending, By::Itself(from)).await? {
        return Ok(last);
    }
    let error = why_not(tx, &turn).await?;
    let last = events::one(tx, &turn.chat, &turn.message, from).await?;
    match last.filter(|last| matches!(last.event, Event::Done { .. } | Event::Error { .. })) {
        Some(last) if last.event == ending.event(&turn.message, skills_of(&last.event)) => Ok(last),
        _ => Err(error),
    }
}

fn skills_of(event: &Event) -> Vec<String> {
    match event {
        Event::Done { activated_skill_names, .. } => activated_skill_names.clone(),
        _ => vec![],
    }
}

/// Ends the turn of a chat if it is this one.
pub(super) async fn end_now(
    tx: &mut dyn Tx,
    chat: &str,
    message: &str,
    ending: &Ending,
    by: By,
) -> Result<Option<Numbered>, StoreError> {
    let [input, output, cached] = messages::usage_columns(ending.usage());
    let sql = "UPDATE prowess_chats SET seq = CASE WHEN seq + $1 < $2 THEN $3 ELSE seq + $4 END,
            turn = NULL, turn_owner = NULL, turn_bytes = 0, updated = $5,
            input = input + COALESCE(CAST($6 AS BIGINT), 0), output = output + COALESCE(CAST($7 AS BIGINT), 0),
            cached = cached + COALESCE(CAST($8 AS BIGINT), 0)
        WHERE id = $9 AND turn = $10 RETURNING seq, skills";
    let (step, least) = match by {
        By::Itself(from) => (1, from),
        By::Others => (1 + UNSEEN_MAX, 0),
    };
    let values = vec![
        Value::from(step),
        least.into(),
        least.into(),
        step.into(),
        limits::now().into(),
        input.clone(),
        output.clone(),
        cached.clone(),
        chat.into(),
        message.into(),
    ];
    let Some(mut row) = tx.query(sql, values).await?.into_iter().next() else { return Ok(None) };
    let (seq, skills) = (row.int()?, row.text()?);
    let event = ending.event(message, from_json(&skills)?);
    let parts = to_json(&turn::parts(events::of_turn(tx, chat, message).await?))?;
    events::insert_end(tx, chat, message, seq, to_json(&[&event])?).await?;
    let (state, reason) = messages::state_columns(&ending.state());
    let sql = "UPDATE prowess_messages
        SET state = $1, reason = $2, input = $3, output = $4, cached = $5, bytes = $6, parts = $7 WHERE id = $8";
    let values: Vec<Value> = vec![
        state.into(),
        reason.into(),
        input,
        output,
        cached,
        (parts.len() as u64).into(),
        parts.into(),
        message.into(),
    ];
    tx.execute(sql, values).await?;
    Ok(Some(Numbered { seq, event }))
}

/// Ends whatever is written in a chat.
pub(super) async fn stop(tx: &mut dyn Tx, chat: String, ending: Ending) -> Result<Option<u64>, StoreError> {
    let rows = tx.query("SELECT turn FROM prowess_chats WHERE id = $1", values![chat.as_str()]).await?;
    match rows.into_iter().next().ok_or(StoreError::NoChat)?.maybe_text()? {
        None => Ok(None),
        Some(message) => Ok(end_now(tx, &chat, &message, &ending, By::Others).await?.map(|last| last.seq)),
    }
}

/// Chats where somebody writes, by their owners.
pub(super) async fn owners(tx: &mut dyn Tx) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT DISTINCT turn_owner FROM prowess_chats WHERE turn_owner IS NOT NULL";
    tx.query(sql, vec![]).await?.into_iter().map(|mut row| row.text()).collect()
}

/// Ends the turns of processes that are gone; chats and the numbers of their last events.
pub(super) async fn sweep(tx: &mut dyn Tx) -> Result<Vec<(String, u64)>, StoreError> {
    let mut ended = Vec::new();
    for owner in owners(tx).await? {
        if !tx.is_gone(&owner).await? {
            continue;
        }
        // In one order, so that two processes that sweep wait for each other and not for ever.
        let sql = "SELECT id, turn FROM prowess_chats WHERE turn_owner = $1 ORDER BY id";
        for mut row in tx.query(sql, values![owner]).await? {
            let (chat, Some(message)) = (row.text()?, row.maybe_text()?) else { continue };
            if let Some(last) = end_now(tx, &chat, &message, &Ending::abandoned(), By::Others).await? {
                ended.push((chat, last.seq));
            }
        }
    }
    Ok(ended)
}

/// Why a turn cannot be written to.
async fn why_not(tx: &mut dyn Tx, turn: &Turn) -> Result<StoreError, StoreError> {
    let rows = tx.query("SELECT id FROM prowess_chats WHERE id = $1", values![turn.chat.as_str()]).await?;
    Ok(if rows.is_empty() { StoreError::NoChat } else { StoreError::Ended })
}
