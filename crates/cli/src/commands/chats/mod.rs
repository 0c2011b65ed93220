//! `prowess chats`: manages stored chats.

mod show;
mod transfer;

use std::path::Path;

use prowess_chat::store::{CHATS_MAX, Chat, Store, StoreError};
use serde_json::json;

use super::chat::{
    check_save_target, open_store, print_files, runtime, save_file, store_failure, unknown_chat,
};
use super::{CommandResult, SUCCESS};
use crate::args::{ChatsArgs, ChatsCommand};
use crate::columns;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, clean_path, format_time, pluralize};

/// The default number of listed chats.
const DEFAULT_COUNT: u32 = 20;

pub(super) fn run(context: &CommandContext, call: ChatsArgs, output: &mut Output) -> CommandResult {
    runtime()?.block_on(async {
        let command = call.command.unwrap_or(ChatsCommand::List { n: DEFAULT_COUNT });
        // Read the file before the store is created.
        let exported = match &command {
            ChatsCommand::Import { file } => transfer::read_export(file)?,
            _ => Vec::new(),
        };
        let store = open_store(context, &call.store_args).await?;
        match command {
            ChatsCommand::List { n } => print_chats(&*store, n as usize, output).await?,
            ChatsCommand::Show { id } => show::show(&*store, &id, output).await?,
            ChatsCommand::Delete { ids } => delete(&*store, &ids, output).await?,
            ChatsCommand::Files { id } => files(&*store, &id, output).await?,
            ChatsCommand::Save { id, path, output: target } => {
                save(&*store, &id, &path, target.as_deref(), output).await?;
            }
            ChatsCommand::Export { id, to } => {
                transfer::export(&*store, id.as_deref(), to.as_deref(), output).await?;
            }
            ChatsCommand::Import { .. } => transfer::import(&*store, &exported, output).await?,
        }
        Ok(SUCCESS)
    })
}

/// Converts an error of the store about a chat.
fn chat_failure(id: &str) -> impl Fn(StoreError) -> Failure {
    move |error| match error {
        StoreError::ChatNotFound => unknown_chat(id),
        error => store_failure(error),
    }
}

/// Prints the latest chats.
pub(super) async fn print_chats(store: &dyn Store, limit: usize, output: &mut Output) -> Result<(), Failure> {
    let (mut chats, mut after): (Vec<Chat>, Option<String>) = (Vec::new(), None);
    loop {
        let remaining = limit - chats.len();
        let page = store.chats(after.as_deref(), remaining.min(CHATS_MAX)).await.map_err(store_failure)?;
        chats.extend(page.chats);
        after = page.next;
        if after.is_none() || chats.len() >= limit {
            break;
        }
    }
    if output.json() {
        return Ok(output.write_json(&json!({"schema": 1, "chats": chats, "more": after.is_some()}))?);
    }
    for chat in &chats {
        let title = if chat.title.is_empty() { "(empty)" } else { &chat.title };
        let state = match &chat.writing {
            Some(_) => "reply in progress".to_owned(),
            None => pluralize(usize::try_from(chat.messages).unwrap_or(usize::MAX), "message"),
        };
        let (id, updated) =
            (output.styled_text(TextStyle::Strong, &chat.id), format_time(chat.updated / 1_000));
        let title = columns::truncate(&clean(title), output.width().saturating_sub(62 + state.len()).max(20));
        output.line(format!("{id}  {updated}  {title}, {state}"))?;
    }
    if chats.is_empty() {
        output.note("no chats yet; run `prowess chat` to start one");
    } else if after.is_some() {
        output.note("more chats are not listed; pass -n N to list more");
    }
    Ok(())
}

async fn files(store: &dyn Store, id: &str, output: &mut Output) -> Result<(), Failure> {
    let files = store.files(id).await.map_err(chat_failure(id))?;
    if output.json() {
        return Ok(output.write_json(&json!({"schema": 1, "files": files}))?);
    }
    if files.is_empty() {
        output.note("this chat has no files");
    }
    Ok(print_files(&files, output)?)
}

async fn save(
    store: &dyn Store,
    id: &str,
    path: &str,
    target: Option<&Path>,
    output: &mut Output,
) -> Result<(), Failure> {
    check_save_target(target)?;
    store.chat(id).await.map_err(chat_failure(id))?;
    let saved = save_file(store, id, path, target).await?;
    if output.json() {
        return Ok(output.write_json(&json!({"schema": 1, "path": path, "file": saved}))?);
    }
    Ok(output.line(format!("saved {}", clean_path(&saved)))?)
}

async fn delete(store: &dyn Store, ids: &[String], output: &mut Output) -> Result<(), Failure> {
    // Delete nothing unless all chats exist.
    for id in ids {
        store.chat(id).await.map_err(chat_failure(id))?;
    }
    for id in ids {
        store.delete_chat(id).await.map_err(chat_failure(id))?;
    }
    if output.json() {
        return Ok(output.write_json(&json!({"schema": 1, "deleted": ids}))?);
    }
    for id in ids {
        output.line(format!("deleted {}", clean(id)))?;
    }
    Ok(())
}
