//! Full-text search over titles and messages: FTS5 in SQLite, `tsvector` in PostgreSQL.
//!
//! Both index a text that is already split into words (see [`to_words`]), so that they find the same.

use super::super::StoreError;
use super::super::chat::FoundChat;
use super::super::words::{excerpt, split_query, to_words};
use super::{SqlDialect, SqlTransaction, chats, messages, values};
use crate::{Message, Part};

/// Indexes the title of a chat.
pub(super) async fn set_title(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    title: &str,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM prowess_texts WHERE chat = $1 AND message = ''";
    tx.execute(sql, values![chat]).await?;
    insert(tx, chat, "", to_words(title)).await
}

/// Indexes the text of a message.
pub(super) async fn add(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &str,
    parts: &[Part],
) -> Result<(), StoreError> {
    remove(tx, message).await?;
    insert(tx, chat, message, to_words(&text_of(parts))).await
}

async fn insert(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &str,
    words: String,
) -> Result<(), StoreError> {
    if words.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO prowess_texts (chat, message, words) VALUES ($1, $2, $3)";
    tx.execute(sql, values![chat, message, words]).await.map(drop)
}

/// Removes a message from the index.
pub(super) async fn remove(tx: &mut dyn SqlTransaction, message: &str) -> Result<(), StoreError> {
    tx.execute("DELETE FROM prowess_texts WHERE message = $1", values![message]).await.map(drop)
}

/// Returns the chats whose title or messages contain all words, most recent first. The last word may be incomplete.
pub(super) async fn find(
    tx: &mut dyn SqlTransaction,
    text: String,
    limit: usize,
) -> Result<Vec<FoundChat>, StoreError> {
    let words = split_query(&text);
    if words.is_empty() {
        return Ok(vec![]);
    }
    // Words consist of letters and digits, so they need no escaping.
    let (sql, query) = match tx.dialect() {
        SqlDialect::Sqlite => {
            let terms: Vec<_> = words.iter().map(|word| format!("\"{word}\"*")).collect();
            ("SELECT prowess_chats.id, MAX(prowess_texts.message) FROM prowess_search
                JOIN prowess_texts ON prowess_texts.number = prowess_search.rowid
                JOIN prowess_chats ON prowess_chats.id = prowess_texts.chat
                WHERE prowess_search MATCH $1
                GROUP BY prowess_chats.id, prowess_chats.updated ORDER BY prowess_chats.updated DESC LIMIT $2", terms.join(" AND "))
        }
        SqlDialect::Postgres => {
            let terms: Vec<_> =
                words.iter().map(|word| format!("'{}':*", word.replace(' ', "':* <-> '"))).collect();
            ("SELECT prowess_chats.id, MAX(prowess_texts.message) FROM prowess_texts
                JOIN prowess_chats ON prowess_chats.id = prowess_texts.chat
                WHERE to_tsvector('simple', prowess_texts.words) @@ to_tsquery('simple', $1)
                GROUP BY prowess_chats.id, prowess_chats.updated ORDER BY prowess_chats.updated DESC LIMIT $2", terms.join(" & "))
        }
    };
    let mut found = Vec::new();
    for mut row in tx.query(sql, values![query, limit as u64]).await? {
        let (id, message) = (row.text()?, row.text()?);
        let chat = chats::get(tx, id).await?;
        let message = match message.is_empty() {
            true => None,
            false => messages::get(tx, &message).await?,
        };
        let text = message.as_ref().map(|message| text_of(&message.parts));
        let excerpt = text.map(|text| excerpt(&text, &words));
        found.push(FoundChat { chat, message: message.map(|message| message.id), excerpt });
    }
    Ok(found)
}

/// Indexes what was stored before there was an index.
pub(super) async fn index_all(tx: &mut dyn SqlTransaction) -> Result<(), StoreError> {
    let rows = tx.query("SELECT id, title FROM prowess_chats", vec![]).await?;
    for mut row in rows {
        let (chat, title) = (row.text()?, row.text()?);
        insert(tx, &chat, "", to_words(&title)).await?;
    }
    let mut after = String::new();
    loop {
        let sql = "SELECT id, chat, parts FROM prowess_messages WHERE id > $1 ORDER BY id LIMIT 200";
        let rows = tx.query(sql, values![after.as_str()]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for mut row in rows {
            let (id, chat, parts) = (row.text()?, row.text()?, row.text()?);
            let parts: Vec<Part> = super::from_json(&parts)?;
            insert(tx, &chat, &id, to_words(&text_of(&parts))).await?;
            after = id;
        }
    }
}

/// Returns what the user or the model wrote.
fn text_of(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// Indexes a whole message.
pub(super) async fn add_message(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    message: &Message,
) -> Result<(), StoreError> {
    add(tx, chat, &message.id, &message.parts).await
}
