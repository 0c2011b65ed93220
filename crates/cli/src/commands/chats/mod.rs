//! `prowess chats`: the chats that are kept.

mod show;
mod transfer;

use prowess_chat::store::{CHATS_MAX, Chat, Store, StoreError};
use serde_json::json;

use super::chat::{of_store, open, runtime, unknown_chat};
use super::{Outcome, YES};
use crate::args::{Chats, ChatsCommand};
use crate::columns;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, Tone, clean, counted};

/// How many chats are listed where nobody says how many.
const LISTED: u32 = 20;

pub(super) fn run(context: &Context, call: Chats, output: &mut Output) -> Outcome {
    runtime()?.block_on(async {
        let command = call.command.unwrap_or(ChatsCommand::List { n: LISTED });
        // What is wrong with a file is told before a store is made for it.
        let read = match &command {
            ChatsCommand::Import { file } => transfer::read(file)?,
            _ => Vec::new(),
        };
        let store = open(context, &call.place).await?;
        match command {
            ChatsCommand::List { n } => listed(&*store, n as usize, output).await?,
            ChatsCommand::Show { id } => show::show(&*store, &id, output).await?,
            ChatsCommand::Delete { ids } => delete(&*store, &ids, output).await?,
            ChatsCommand::Export { id, to } => {
                transfer::export(&*store, id.as_deref(), to.as_deref(), output).await?;
            }
            ChatsCommand::Import { .. } => transfer::import(&*store, &read, output).await?,
        }
        Ok(YES)
    })
}

/// A failure of the store that is about one chat.
fn about(id: &str) -> impl Fn(StoreError) -> Failure {
    move |error| match error {
        StoreError::NoChat => unknown_chat(id),
        error => of_store(error),
    }
}

/// The latest chats.
pub(super) async fn listed(store: &dyn Store, most: usize, output: &mut Output) -> Result<(), Failure> {
    let (mut chats, mut after): (Vec<Chat>, Option<String>) = (Vec::new(), None);
    loop {
        let left = most - chats.len();
        let page = store.chats(after.as_deref(), left.min(CHATS_MAX)).await.map_err(of_store)?;
        chats.extend(page.chats);
        after = page.next;
        if after.is_none() || chats.len() >= most {
            break;
        }
    }
    if output.json() {
        return Ok(output.answer(&json!({"schema": 1, "chats": chats, "more": after.is_some()}))?);
    }
    for chat in &chats {
        let title = if chat.title.is_empty() { "(nothing was said)" } else { &chat.title };
        let more = match &chat.writing {
            Some(_) => "an answer is being written".to_owned(),
            None => counted(usize::try_from(chat.messages).unwrap_or(usize::MAX), "message"),
        };
        let (id, when) = (output.tone(Tone::Strong, &chat.id), when(chat.updated));
        let title = columns::cut(&clean(title), output.width().saturating_sub(62 + more.len()).max(20));
        output.line(format!("{id}  {when}  {title}, {more}"))?;
    }
    if chats.is_empty() {
        output.remark("there are no chats yet; prowess chat begins one");
    } else if after.is_some() {
        output.remark("there are more; -n N lists more of them");
    }
    Ok(())
}

async fn delete(store: &dyn Store, ids: &[String], output: &mut Output) -> Result<(), Failure> {
    // All of them are there, or none is deleted.
    for id in ids {
        store.chat(id).await.map_err(about(id))?;
    }
    for id in ids {
        store.delete_chat(id).await.map_err(about(id))?;
    }
    if output.json() {
        return Ok(output.answer(&json!({"schema": 1, "deleted": ids}))?);
    }
    for id in ids {
        output.line(format!("deleted {}", clean(id)))?;
    }
    Ok(())
}

/// Milliseconds since 1970 as date and time in UTC.
fn when(millis: u64) -> String {
    prowess_package::iso_time(millis / 1_000).replace('T', " ")
}
