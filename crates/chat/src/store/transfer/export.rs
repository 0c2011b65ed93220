//! Writing chats as JSON, page by page: a store may hold more than memory does.

use std::io::Write;

use serde::Serialize;
use serde_json::json;

use super::{FORMAT, VERSION};
use crate::store::limits::now;
use crate::store::{CHATS_MAX, Chat, MESSAGES_MAX, Store, StoreError};
use crate::{Message, State};

/// Which chats are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// All of them.
    All,
    /// This one.
    One(&'a str),
}

/// Writes chats; how many. What is being written at that moment counts as broken off there.
pub async fn export(
    store: &dyn Store,
    which: Which<'_>,
    out: &mut (dyn Write + Send),
) -> Result<usize, StoreError> {
    // An unknown chat is told of before anything is written.
    if let Which::One(id) = which {
        store.chat(id).await?;
    }
    put(
        out,
        &format!("{{\"format\":{},\"version\":{VERSION},\"exported\":{},\"chats\":[", json!(FORMAT), now()),
    )?;
    let mut count = 0;
    match which {
        Which::One(id) => count += usize::from(one(store, id, count, out).await?),
        Which::All => {
            let mut after: Option<String> = None;
            loop {
                let ids = store.chat_ids(after.as_deref(), CHATS_MAX).await?;
                for id in &ids {
                    count += usize::from(one(store, id, count, out).await?);
                }
                match ids.into_iter().next_back() {
                    Some(last) => after = Some(last),
                    None => break,
                }
            }
        }
    }
    put(out, "\n]}\n")?;
    Ok(count)
}

/// One chat, unless it was deleted in the meantime.
async fn one(
    store: &dyn Store,
    id: &str,
    before: usize,
    out: &mut (dyn Write + Send),
) -> Result<bool, StoreError> {
    let chat = match store.chat(id).await {
        Err(StoreError::NoChat) => return Ok(false),
        chat => chat?,
    };
    let Some(pages) = places(store, id).await? else { return Ok(false) };
    put(out, if before == 0 { "\n" } else { ",\n" })?;
    let head = Head::of(&chat);
    let head = json_of(&head)?;
    put(out, head.strip_suffix('}').unwrap_or(&head))?;
    put(out, ",\"messages\":[")?;
    let mut first = true;
    // Pages are found from the end; they are written from the beginning.
    for (before, most) in pages.into_iter().rev() {
        let page = match store.messages(id, before, most).await {
            Err(StoreError::NoChat) => break,
            page => page?,
        };
        for message in page.messages {
            put(out, if first { "\n" } else { ",\n" })?;
            first = false;
            put(out, &json_of(&settled(message))?)?;
        }
    }
    put(out, "]}")?;
    Ok(true)
}

/// Where the pages of a chat end and how many messages each has, the last page first.
async fn places(store: &dyn Store, id: &str) -> Result<Option<Vec<(Option<u64>, usize)>>, StoreError> {
    let (mut pages, mut before) = (Vec::new(), None);
    loop {
        let page = match store.messages(id, before, MESSAGES_MAX).await {
            Err(StoreError::NoChat) => return Ok(None),
            page => page?,
        };
        pages.push((before, page.messages.len()));
        match page.before {
            Some(place) => before = Some(place),
            None => return Ok(Some(pages)),
        }
    }
}

fn settled(mut message: Message) -> Message {
    if message.state == State::Writing {
        message.state =
            State::Interrupted { reason: "it was being written when the chat was exported".to_owned() };
    }
    message
}

#[derive(Serialize)]
struct Head<'a> {
    id: &'a str,
    title: &'a str,
    preset: &'a str,
    created: u64,
    updated: u64,
    activated_skill_names: &'a [String],
}

impl<'a> Head<'a> {
    fn of(chat: &'a Chat) -> Self {
        Self {
            id: &chat.id,
            title: &chat.title,
            preset: &chat.preset,
            created: chat.created,
            updated: chat.updated,
            activated_skill_names: &chat.activated_skill_names,
        }
    }
}

fn json_of(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))
}

fn put(out: &mut (dyn Write + Send), text: &str) -> Result<(), StoreError> {
    out.write_all(text.as_bytes())
        .map_err(|error| StoreError::Internal(format!("the copy could not be written: {error}")))
}
