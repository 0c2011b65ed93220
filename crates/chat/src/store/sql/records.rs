//! Whole chats that come from elsewhere.

use super::super::transfer::Record;
use super::super::{StoreError, limits};
use super::{Tx, chats, messages, values};
use crate::Usage;

/// Adds a chat; the id that it got. An id that is taken is somebody else's, even if it looks the same.
pub(super) async fn add(tx: &mut dyn Tx, record: Record) -> Result<String, StoreError> {
    let Record { mut id, title, preset, created, updated, activated_skill_names: skills, messages: said } =
        record;
    if !chats::insert(tx, &id, &title, &preset, created, updated, &skills).await? {
        id = limits::new_id();
        chats::insert(tx, &id, &title, &preset, created, updated, &skills).await?;
    }
    let (count, mut cost) = (said.len() as u64, Usage::default());
    for (position, mut message) in (0..).zip(said) {
        if !messages::insert(tx, &id, position, &message).await? {
            message.id = limits::new_id();
            messages::insert(tx, &id, position, &message).await?;
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
