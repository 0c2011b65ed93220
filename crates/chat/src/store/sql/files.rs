//! Files of chats as rows. The content is stored in chunks, so that no statement is too large for a database.

use prowess_config::ChatFileLimits;

use super::super::StoreError;
use super::super::files::{ChatFile, FileChanges, FileOrigin, NewFile, file_not_found, plan_changes};
use super::super::limits::{self, is_id};
use super::{SqlRow, SqlTransaction, chats, values};
use crate::Part;

/// The size of a chunk, except of the last one.
const CHUNK_BYTES: usize = 1024 * 1024;

/// The columns of a [`ChatFile`], in the order of [`file_from_row`].
macro_rules! columns {
    () => {
        "path, size, media_type, digest, origin, created, changed"
    };
}

fn file_from_row(mut row: SqlRow) -> Result<ChatFile, StoreError> {
    Ok(ChatFile {
        path: row.text()?,
        size: row.int()?,
        media_type: row.text()?,
        digest: row.text()?,
        origin: match row.text()?.as_str() {
            "uploaded" => FileOrigin::Uploaded,
            _ => FileOrigin::Script,
        },
        created: row.int()?,
        changed: row.int()?,
    })
}

fn origin_column(origin: FileOrigin) -> &'static str {
    match origin {
        FileOrigin::Uploaded => "uploaded",
        FileOrigin::Script => "script",
    }
}

/// Returns the files of a chat, sorted by path.
pub(super) async fn list(tx: &mut dyn SqlTransaction, chat: String) -> Result<Vec<ChatFile>, StoreError> {
    chats::get(tx, chat.clone()).await?;
    entries(tx, &chat).await
}

/// Returns the files of a chat that exists. They are sorted here, because databases sort text in different orders.
async fn entries(tx: &mut dyn SqlTransaction, chat: &str) -> Result<Vec<ChatFile>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM prowess_files WHERE chat = $1");
    let rows = tx.query(sql, values![chat]).await?;
    let mut files: Vec<ChatFile> = rows.into_iter().map(file_from_row).collect::<Result<_, _>>()?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns one file of a chat.
pub(super) async fn get(
    tx: &mut dyn SqlTransaction,
    chat: String,
    path: String,
) -> Result<ChatFile, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM prowess_files WHERE chat = $1 AND path = $2");
    match tx.query(sql, values![chat.as_str(), path.as_str()]).await?.into_iter().next() {
        Some(row) => file_from_row(row),
        None => {
            chats::get(tx, chat).await?;
            Err(file_not_found(&path))
        }
    }
}

/// Returns a file with its content.
pub(super) async fn read(
    tx: &mut dyn SqlTransaction,
    chat: String,
    path: String,
) -> Result<(ChatFile, Vec<u8>), StoreError> {
    let file = get(tx, chat.clone(), path.clone()).await?;
    let sql = "SELECT content FROM prowess_file_chunks WHERE chat = $1 AND path = $2 ORDER BY position";
    let mut content = Vec::with_capacity(usize::try_from(file.size).unwrap_or(0));
    for mut row in tx.query(sql, values![chat, path]).await? {
        content.extend_from_slice(&row.bytes()?);
    }
    match content.len() as u64 == file.size {
        true => Ok((file, content)),
        false => Err(StoreError::Internal("the content of a file is incomplete".to_owned())),
    }
}

/// Changes the files of a chat and returns the entries of those that were written.
pub(super) async fn change(
    tx: &mut dyn SqlTransaction,
    chat: String,
    changes: FileChanges,
    limits: ChatFileLimits,
) -> Result<Vec<ChatFile>, StoreError> {
    // Locks the chat, so that concurrent changes cannot exceed the limits together.
    let locked =
        tx.execute("UPDATE prowess_chats SET seq = seq WHERE id = $1", values![chat.as_str()]).await?;
    if locked == 0 || !is_id(&chat) {
        return Err(StoreError::ChatNotFound);
    }
    let current = entries(tx, &chat).await?;
    let plan = plan_changes(current, &changes, limits, limits::now_millis())?;
    for path in plan.deleted {
        let sql = "DELETE FROM prowess_files WHERE chat = $1 AND path = $2";
        tx.execute(sql, values![chat.as_str(), path]).await?;
    }
    let mut written = Vec::with_capacity(plan.stored.len());
    for (index, entry) in plan.stored {
        let content = changes.written.get(index).map_or(&[][..], NewFile::content);
        insert(tx, &chat, &entry, content).await?;
        written.push(entry);
    }
    Ok(written)
}

/// Adds or replaces a file.
pub(super) async fn insert(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    file: &ChatFile,
    content: &[u8],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO prowess_files (chat, path, size, media_type, digest, origin, created, changed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (chat, path) DO UPDATE SET size = excluded.size, media_type = excluded.media_type,
            digest = excluded.digest, origin = excluded.origin, changed = excluded.changed";
    let path = file.path.as_str();
    let values = values![
        chat,
        path,
        file.size,
        file.media_type.as_str(),
        file.digest.as_str(),
        origin_column(file.origin),
        file.created,
        file.changed,
    ];
    tx.execute(sql, values).await?;
    let sql = "DELETE FROM prowess_file_chunks WHERE chat = $1 AND path = $2";
    tx.execute(sql, values![chat, path]).await?;
    for (position, chunk) in (0_u64..).zip(content.chunks(CHUNK_BYTES)) {
        let sql = "INSERT INTO prowess_file_chunks (chat, path, position, content) VALUES ($1, $2, $3, $4)";
        tx.execute(sql, values![chat, path, position, chunk.to_vec()]).await?;
    }
    Ok(())
}

/// Returns the files that belong to a message, as its parts.
pub(super) async fn to_parts(
    tx: &mut dyn SqlTransaction,
    chat: &str,
    paths: Vec<String>,
) -> Result<Vec<Part>, StoreError> {
    let mut parts = Vec::with_capacity(paths.len());
    for path in paths {
        let ChatFile { path, size, media_type, digest, .. } = get(tx, chat.to_owned(), path).await?;
        parts.push(Part::File { path, size, media_type, digest });
    }
    Ok(parts)
}
