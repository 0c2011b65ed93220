//! Exports chats as JSON, page by page, because a store may be larger than memory.

use std::io::Write;

use serde::Serialize;
use serde_json::json;

use super::{ExportedFile, FORMAT, VERSION};
use crate::store::limits::now_millis;
use crate::store::{CHATS_MAX, Chat, MESSAGES_MAX, Store, StoreError};
use crate::{Message, MessageState};

/// Which chats to export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportSelection<'a> {
    /// All chats.
    All,
    /// One chat.
    One(&'a str),
}

/// Writes chats and returns their number. A message that is being written is marked as interrupted in the export.
pub async fn export(
    store: &dyn Store,
    selection: ExportSelection<'_>,
    out: &mut (dyn Write + Send),
) -> Result<usize, StoreError> {
    // Report an unknown chat before anything is written.
    if let ExportSelection::One(id) = selection {
        store.chat(id).await?;
    }
    write_text(
        out,
        &format!(
            "{{\"format\":{},\"version\":{VERSION},\"exported\":{},\"chats\":[",
            json!(FORMAT),
            now_millis()
        ),
    )?;
    let mut count = 0;
    match selection {
        ExportSelection::One(id) => count += usize::from(export_chat(store, id, count, out).await?),
        ExportSelection::All => {
            let mut after: Option<String> = None;
            loop {
                let ids = store.chat_ids(after.as_deref(), CHATS_MAX).await?;
                for id in &ids {
                    count += usize::from(export_chat(store, id, count, out).await?);
                }
                match ids.into_iter().next_back() {
                    Some(last) => after = Some(last),
                    None => break,
                }
            }
        }
    }
    write_text(out, "\n]}\n")?;
    Ok(count)
}

/// Writes one chat. Returns `false` if it was deleted meanwhile.
async fn export_chat(
    store: &dyn Store,
    id: &str,
    before: usize,
    out: &mut (dyn Write + Send),
) -> Result<bool, StoreError> {
    let chat = match store.chat(id).await {
        Err(StoreError::ChatNotFound) => return Ok(false),
        chat => chat?,
    };
    let Some(pages) = pages(store, id).await? else { return Ok(false) };
    write_text(out, if before == 0 { "\n" } else { ",\n" })?;
    let head = ExportedHeader::from_chat(&chat);
    let head = to_json(&head)?;
    write_text(out, head.strip_suffix('}').unwrap_or(&head))?;
    write_text(out, ",\"messages\":[")?;
    let mut first = true;
    // Pages are listed from the end and written from the start.
    for (before, limit) in pages.into_iter().rev() {
        let page = match store.messages(id, before, limit).await {
            Err(StoreError::ChatNotFound) => break,
            page => page?,
        };
        for message in page.messages {
            write_text(out, if first { "\n" } else { ",\n" })?;
            first = false;
            write_text(out, &to_json(&without_writing_state(message))?)?;
        }
    }
    write_text(out, "]")?;
    let branches = match store.branches(id).await {
        Err(StoreError::ChatNotFound) => vec![],
        branches => branches?,
    };
    if !branches.is_empty() {
        write_text(out, &format!(",\"branches\":{}", to_json(&branches)?))?;
    }
    export_files(store, id, out).await?;
    write_text(out, "}")?;
    Ok(true)
}

/// Writes the files of a chat, one after the other, because all of them may be larger than memory.
async fn export_files(store: &dyn Store, id: &str, out: &mut (dyn Write + Send)) -> Result<(), StoreError> {
    let files = match store.files(id).await {
        Err(StoreError::ChatNotFound) => return Ok(()),
        files => files?,
    };
    let mut first = true;
    for file in files {
        let (entry, content) = match store.read_file(id, &file.path).await {
            // It was deleted meanwhile.
            Err(StoreError::ChatNotFound | StoreError::FileNotFound(_)) => continue,
            read => read?,
        };
        write_text(out, if first { ",\"files\":[\n" } else { ",\n" })?;
        first = false;
        write_text(out, &to_json(&ExportedFile { entry, content })?)?;
    }
    if !first {
        write_text(out, "]")?;
    }
    Ok(())
}

/// Returns the end and length of each page of a chat, the last page first.
async fn pages(store: &dyn Store, id: &str) -> Result<Option<Vec<(Option<u64>, usize)>>, StoreError> {
    let (mut pages, mut before) = (Vec::new(), None);
    loop {
        let page = match store.messages(id, before, MESSAGES_MAX).await {
            Err(StoreError::ChatNotFound) => return Ok(None),
            page => page?,
        };
        pages.push((before, page.messages.len()));
        match page.before {
            Some(cursor) => before = Some(cursor),
            None => return Ok(Some(pages)),
        }
    }
}

fn without_writing_state(mut message: Message) -> Message {
    if message.state == MessageState::Writing {
        message.state = MessageState::Interrupted {
            reason: "it was still being written when the chat was exported".to_owned(),
        };
    }
    message
}

#[derive(Serialize)]
struct ExportedHeader<'a> {
    id: &'a str,
    title: &'a str,
    preset: &'a str,
    created: u64,
    updated: u64,
    activated_skill_names: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
}

impl<'a> ExportedHeader<'a> {
    fn from_chat(chat: &'a Chat) -> Self {
        Self {
            id: &chat.id,
            title: &chat.title,
            preset: &chat.preset,
            created: chat.created,
            updated: chat.updated,
            activated_skill_names: &chat.activated_skill_names,
            pinned: chat.pinned,
            archived: chat.archived,
        }
    }
}

fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))
}

fn write_text(out: &mut (dyn Write + Send), text: &str) -> Result<(), StoreError> {
    out.write_all(text.as_bytes())
        .map_err(|error| StoreError::Internal(format!("cannot write the export: {error}")))
}
