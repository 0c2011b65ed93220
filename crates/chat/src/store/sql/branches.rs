//! Versions of messages. The messages of a chat are one path; what was replaced is kept in branches beside it.
//!
//! A branch begins with a message, whose id it has, at a position. The branches that begin at the same position of the same
//! path are the versions of that message; one of them is active, and its messages are in `prowess_messages`. The others are
//! in `prowess_branch_messages`. `parent` is the inactive branch in which a branch begins, or NULL for the path.

use std::collections::BTreeMap;

use super::super::StoreError;
use super::super::chat::{MessageVersions, StoredBranch};
use super::super::limits::{self, VERSIONS_MAX};
use super::super::recorder::without_skills_activated_in;
use super::{SqlTransaction, chats, from_json, messages, search, to_json, turns, values};
use crate::{Message, Role};

/// Which version of a message a new one replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replaced<'a> {
    /// A message of the user.
    Question(&'a str),
    /// A reply.
    Reply(&'a str),
}

/// Makes room for another version of a message: the message and everything after it become a branch. Skills that were
/// activated only there are no longer active. Returns the message before it, and the position that is free now.
pub(super) async fn fork(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    replaced: Replaced<'_>,
) -> Result<(Option<Message>, u64), StoreError> {
    // Locks the chat, and fails while a reply is being written.
    turns::claim(tx, chat, limits::now_millis()).await?;
    let (id, role, expected) = match replaced {
        Replaced::Question(id) => (id, Role::User, "only a message of the user can be replaced"),
        Replaced::Reply(id) => (id, Role::Assistant, "only a reply can be generated again"),
    };
    let position = messages::position(tx, chat, id).await?.ok_or(StoreError::MessageNotFound)?;
    let tail = messages::from_position(tx, chat, position).await?;
    if tail.first().is_none_or(|first| first.role != role) {
        return Err(StoreError::Invalid(expected.to_owned()));
    }
    let sql = "SELECT COUNT(*) FROM prowess_branches WHERE chat = $1";
    let count = tx.query(sql, values![chat]).await?.into_iter().next().map_or(Ok(0), |mut row| row.int())?;
    if count >= VERSIONS_MAX {
        return Err(StoreError::Invalid(format!(
            "a chat cannot have more than {VERSIONS_MAX} versions of messages"
        )));
    }
    let active = chats::get(tx, chat.to_owned()).await?.activated_skill_names;
    let kept = without_skills_activated_in(&active, &tail);
    set_aside(tx, chat, position, &tail, &active).await?;
    set_path(tx, chat, position, &kept).await?;
    let before = match position.checked_sub(1) {
        Some(position) => messages::from_position(tx, chat, position).await?.into_iter().next(),
        None => None,
    };
    Ok((before, position))
}

/// Makes a new message the active version at a position.
pub(super) async fn add(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    position: u64,
    message: &str,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO prowess_branches (id, chat, position, number, active, skills)
        SELECT $1, $2, $3, COALESCE(MAX(number), 0) + 1, 1, '[]' FROM prowess_branches
        WHERE chat = $4 AND parent IS NULL AND position = $5";
    tx.execute(sql, values![message, chat, position, chat, position]).await.map(drop)
}

/// Makes another version of a message the active one.
pub(super) async fn switch(tx: &mut dyn SqlTransaction, chat: String, id: String) -> Result<u64, StoreError> {
    let info = chats::get(tx, chat.clone()).await?;
    turns::claim(tx, &chat, info.updated).await?;
    let sql = "SELECT position FROM prowess_branches
        WHERE id = $1 AND chat = $2 AND parent IS NULL AND active = 0";
    let rows = tx.query(sql, values![id.as_str(), chat.as_str()]).await?;
    let Some(mut row) = rows.into_iter().next() else {
        return match messages::position(tx, &chat, &id).await? {
            // It is active already, perhaps because of another tab.
            Some(_) => {
                set_path(tx, &chat, info.messages, &info.activated_skill_names).await?;
                Ok(info.seq)
            }
            None => Err(StoreError::MessageNotFound),
        };
    };
    let position = row.int()?;
    let tail = messages::from_position(tx, &chat, position).await?;
    set_aside(tx, &chat, position, &tail, &info.activated_skill_names).await?;
    restore(tx, &chat, position, &id).await?;
    forget_events(tx, &chat).await
}

/// Deletes a message. If it has other versions and nothing follows it, the latest of them becomes active.
pub(super) async fn delete_message(
    tx: &mut dyn SqlTransaction,
    chat: String,
    id: String,
) -> Result<u64, StoreError> {
    let info = chats::get(tx, chat.clone()).await?;
    turns::claim(tx, &chat, info.updated).await?;
    let position = messages::position(tx, &chat, &id).await?.ok_or(StoreError::MessageNotFound)?;
    let mut tail = messages::from_position(tx, &chat, position).await?.into_iter();
    let (removed, next) = (tail.next(), tail.next());
    let removed: Vec<Message> = removed.into_iter().collect();
    let active = without_skills_activated_in(&info.activated_skill_names, &removed);
    search::remove(tx, &id).await?;
    tx.execute("DELETE FROM prowess_messages WHERE id = $1", values![id.as_str()]).await?;
    // Positions are unique at every moment, so the later ones move in two steps.
    let sql = "UPDATE prowess_messages SET position = -position WHERE chat = $1 AND position > $2";
    tx.execute(sql, values![chat.as_str(), position]).await?;
    let sql = "UPDATE prowess_messages SET position = -position - 1 WHERE chat = $1 AND position < 0";
    tx.execute(sql, values![chat.as_str()]).await?;
    shift_branches(tx, &chat, position).await?;
    // What followed the message takes its place among the versions, unless it has versions itself.
    if let Some(next) = &next {
        let sql = "UPDATE prowess_branches SET id = $1 WHERE id = $2
            AND NOT EXISTS (SELECT 1 FROM prowess_branches WHERE id = $3)";
        tx.execute(sql, values![next.id.as_str(), id.as_str(), next.id.as_str()]).await?;
    }
    tx.execute("DELETE FROM prowess_branches WHERE id = $1 AND active = 1", values![id.as_str()]).await?;
    set_path(tx, &chat, info.messages.saturating_sub(1), &active).await?;
    if next.is_none() {
        let sql = "SELECT id FROM prowess_branches
            WHERE chat = $1 AND parent IS NULL AND position = $2 AND active = 0 ORDER BY number DESC, id LIMIT 1";
        let rows = tx.query(sql, values![chat.as_str(), position]).await?;
        if let Some(mut row) = rows.into_iter().next() {
            let other = row.text()?;
            restore(tx, &chat, position, &other).await?;
        }
    }
    forget_events(tx, &chat).await
}

/// Returns the versions of the messages in a range of positions, by the id of the active version.
pub(super) async fn versions(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    from: u64,
    before: u64,
) -> Result<Vec<(String, MessageVersions)>, StoreError> {
    let sql = "SELECT position, id, active FROM prowess_branches
        WHERE chat = $1 AND parent IS NULL AND position >= $2 AND position < $3 ORDER BY position, number, id";
    let mut groups: Vec<(u64, Vec<(String, bool)>)> = Vec::new();
    for mut row in tx.query(sql, values![chat, from, before]).await? {
        let (position, id, is_active) = (row.int()?, row.text()?, row.int()? > 0);
        match groups.last_mut().filter(|(last, _)| *last == position) {
            Some((_, group)) => group.push((id, is_active)),
            None => groups.push((position, vec![(id, is_active)])),
        }
    }
    let versions = |(_, group): (u64, Vec<(String, bool)>)| {
        let index = group.iter().position(|(_, is_active)| *is_active)?;
        let id = |index: Option<usize>| Some(group.get(index?)?.0.clone());
        let (previous, next) = (id(index.checked_sub(1)), id(index.checked_add(1)));
        let versions = MessageVersions { index: index as u64 + 1, count: group.len() as u64, previous, next };
        (group.len() > 1).then(|| (group[index].0.clone(), versions))
    };
    Ok(groups.into_iter().filter_map(versions).collect())
}

/// Returns all branches of a chat.
pub(super) async fn all(tx: &mut dyn SqlTransaction, chat: String) -> Result<Vec<StoredBranch>, StoreError> {
    let sql = "SELECT id, position, parent, number, active, skills FROM prowess_branches WHERE chat = $1
        ORDER BY position, number, id";
    let mut branches = Vec::new();
    for mut row in tx.query(sql, values![chat]).await? {
        let (id, position, parent, number) = (row.text()?, row.int()?, row.maybe_text()?, row.int()?);
        let (is_active, skills) = (row.int()? > 0, row.text()?);
        let messages = match is_active {
            true => None,
            false => Some(branch_messages(tx, &id).await?),
        };
        let activated_skill_names = from_json(&skills)?;
        branches.push(StoredBranch { id, position, parent, number, activated_skill_names, messages });
    }
    Ok(branches)
}

async fn branch_messages(tx: &mut dyn SqlTransaction, branch: &str) -> Result<Vec<Message>, StoreError> {
    let sql = "SELECT body FROM prowess_branch_messages WHERE branch = $1 ORDER BY position";
    let rows = tx.query(sql, values![branch]).await?;
    rows.into_iter().map(|mut row| from_json(&row.text()?)).collect()
}

/// Adds the branches of an exported chat. `new_ids` are the new ids of messages whose ids were taken. The messages of inactive
/// branches always get new ones, because their ids may be taken by any branch of any chat.
pub(super) async fn import(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    branches: Vec<StoredBranch>,
    mut new_ids: BTreeMap<String, String>,
) -> Result<(), StoreError> {
    for message in branches.iter().flat_map(|branch| branch.messages.iter().flatten()) {
        new_ids.insert(message.id.clone(), limits::new_id());
    }
    let new_id = |id: &String| new_ids.get(id).unwrap_or(id).clone();
    for branch in branches {
        let id = new_id(&branch.id);
        let sql = "INSERT INTO prowess_branches (id, chat, position, parent, number, active, skills)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = values![
            id.as_str(),
            chat,
            branch.position,
            branch.parent.as_ref().map(new_id),
            branch.number,
            u64::from(branch.messages.is_none()),
            to_json(&branch.activated_skill_names)?,
        ];
        tx.execute(sql, values).await?;
        let sql = "INSERT INTO prowess_branch_messages (branch, position, body) VALUES ($1, $2, $3)";
        for (position, mut message) in (branch.position..).zip(branch.messages.into_iter().flatten()) {
            message.id = new_id(&message.id);
            message.rename_summarized(&new_ids);
            tx.execute(sql, values![id.as_str(), position, to_json(&message)?]).await?;
        }
    }
    Ok(())
}

/// Moves the messages from a position on out of the path.
async fn set_aside(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    position: u64,
    tail: &[Message],
    skills: &[String],
) -> Result<(), StoreError> {
    let Some(first) = tail.first() else { return Ok(()) };
    let sql = "INSERT INTO prowess_branches (id, chat, position, number, active, skills)
        VALUES ($1, $2, $3, 0, 1, '[]') ON CONFLICT (id) DO NOTHING";
    tx.execute(sql, values![first.id.as_str(), chat, position]).await?;
    let sql = "UPDATE prowess_branches SET active = 0, skills = $1 WHERE id = $2";
    tx.execute(sql, values![to_json(skills)?, first.id.as_str()]).await?;
    let sql = "UPDATE prowess_branches SET parent = $1 WHERE chat = $2 AND parent IS NULL AND position > $3";
    tx.execute(sql, values![first.id.as_str(), chat, position]).await?;
    let sql = "INSERT INTO prowess_branch_messages (branch, position, body) VALUES ($1, $2, $3)";
    for (position, message) in (position..).zip(tail) {
        tx.execute(sql, values![first.id.as_str(), position, to_json(message)?]).await?;
        search::remove(tx, &message.id).await?;
    }
    let sql = "DELETE FROM prowess_messages WHERE chat = $1 AND position >= $2";
    tx.execute(sql, values![chat, position]).await.map(drop)
}

/// Moves the messages of a branch back to the end of the path.
async fn restore(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    position: u64,
    branch: &str,
) -> Result<(), StoreError> {
    let mut end = position;
    for message in branch_messages(tx, branch).await? {
        if !messages::insert(tx, chat, end, &message).await? {
            return Err(StoreError::Internal("two messages have the same id".to_owned()));
        }
        search::add_message(tx, chat, &message).await?;
        end += 1;
    }
    tx.execute("DELETE FROM prowess_branch_messages WHERE branch = $1", values![branch]).await?;
    tx.execute("UPDATE prowess_branches SET parent = NULL WHERE parent = $1", values![branch]).await?;
    let sql = "UPDATE prowess_branches SET active = 1 WHERE id = $1 RETURNING skills";
    let rows = tx.query(sql, values![branch]).await?;
    let skills: Vec<String> =
        rows.into_iter().next().map_or(Ok(vec![]), |mut row| from_json(&row.text()?))?;
    set_path(tx, chat, end, &skills).await
}

/// Sets the number of messages of the path, and the active skills.
async fn set_path(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    messages: u64,
    skills: &[String],
) -> Result<(), StoreError> {
    let sql = "UPDATE prowess_chats SET messages = $1, skills = $2 WHERE id = $3";
    tx.execute(sql, values![messages, to_json(skills)?, chat]).await.map(drop)
}

/// Moves the branches that begin after a position, and everything in them, one position forward.
async fn shift_branches(tx: &mut dyn SqlTransaction, chat: &str, after: u64) -> Result<(), StoreError> {
    let sql = "SELECT id, parent, position FROM prowess_branches WHERE chat = $1";
    let mut branches: Vec<(String, Option<String>, u64)> = Vec::new();
    for mut row in tx.query(sql, values![chat]).await? {
        branches.push((row.text()?, row.maybe_text()?, row.int()?));
    }
    let mut moved: Vec<String> = Vec::new();
    let begins_later = |branch: &&(String, Option<String>, u64)| branch.1.is_none() && branch.2 > after;
    let mut next: Vec<String> = branches.iter().filter(begins_later).map(|branch| branch.0.clone()).collect();
    while let Some(id) = next.pop() {
        let inside = branches.iter().filter(|branch| branch.1.as_ref() == Some(&id));
        next.extend(inside.map(|branch| branch.0.clone()));
        moved.push(id);
    }
    for id in moved {
        tx.execute("UPDATE prowess_branches SET position = position - 1 WHERE id = $1", values![id.as_str()])
            .await?;
        let sql = "UPDATE prowess_branch_messages SET position = -position WHERE branch = $1";
        tx.execute(sql, values![id.as_str()]).await?;
        let sql = "UPDATE prowess_branch_messages SET position = -position - 1 WHERE branch = $1";
        tx.execute(sql, values![id]).await?;
    }
    Ok(())
}

/// Makes clients that follow the chat read it again. Returns the number of the last event.
async fn forget_events(tx: &mut dyn SqlTransaction, chat: &str) -> Result<u64, StoreError> {
    tx.execute("DELETE FROM prowess_events WHERE chat = $1", values![chat]).await?;
    let rows =
        tx.query("UPDATE prowess_chats SET seq = seq + 1 WHERE id = $1 RETURNING seq", values![chat]).await?;
    rows.into_iter().next().ok_or(StoreError::ChatNotFound)?.int()
}
