//! `prowess chat`: answers a single message, or runs an interactive chat on a terminal.
//!
//! | module | subject |
//! |---|---|
//! | `setup` | the store, the model and the selected chat |
//! | `message` | the message, from the argument and standard input |
//! | `turn` | one turn, and the signals that stop it |
//! | `render` | output of a turn: text, tool calls, JSON |
//! | `sanitize` | escaping of streamed text |
//! | `files` | the files of a chat: adds local files, lists and saves them |
//! | `tool_calls` | tool calls as numbered lines, and their details |
//! | `conversation`, `input`, `editor` | the interactive chat: its loop, its commands and its line editor |
//! | `errors` | failures and hints |

mod conversation;
mod editor;
mod errors;
mod files;
mod input;
mod message;
mod render;
pub(super) mod sanitize;
mod setup;
mod tool_calls;
mod turn;

use std::io::IsTerminal;
use std::time::Duration;

use prowess_chat::EndReason;
use prowess_chat::store::{TurnStart, UserMessage};
use serde_json::json;
use tokio::runtime::Runtime;

pub(super) use errors::{store_failure, unknown_chat};
pub(super) use files::{SaveHint, artifact_lines, check_save_target, print_files, save_file};
pub(super) use input::split_words;
pub(super) use setup::open_store;
pub(super) use tool_calls::ToolCallLog;

use super::{CommandResult, SUCCESS, check_failed, print_diagnostics};
use crate::args::{ChatArgs, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals;
use files::{LocalFile, add_file};
use setup::{ChatSetup, ContinueHint, SelectedChat};
use turn::TurnEnd;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ChatArgs,
    output: &mut Output,
) -> CommandResult {
    let message = message::read_message(args.message.as_deref(), output)?;
    let runtime = runtime()?;
    let result = match message {
        Some(message) => runtime.block_on(answer_once(context, global, args, &message, output)),
        None => conversation::run(&runtime, context, global, args, output),
    };
    // A cancelled tool must not keep the process alive.
    runtime.shutdown_timeout(Duration::from_secs(5));
    result
}

/// Returns the runtime of a chat.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Answers a single message.
async fn answer_once(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ChatArgs,
    message: &str,
    output: &mut Output,
) -> CommandResult {
    let setup = ChatSetup::new(context, global, args, ContinueHint::NewProcess).await?;
    let selected = SelectedChat::select(args, &setup).await?;
    // Nothing is stored unless all files can be read.
    let local = files::read_local_files(&args.files, setup.file_limits)?;
    let chat = selected.get_or_create(&setup).await?;
    let attached = add_files(&setup, &chat, local).await?;
    if output.json() {
        output.write_json(
            &json!({"schema": 1, "type": "chat", "chat": chat, "model": setup.agent.model().name()}),
        )?;
    } else if let Some(line) = setup.rehearsal_notice(context) {
        output.note(line);
    }
    if let Some(line) = setup.unavailable_summary() {
        output.note(line);
    }
    output.finish()?;
    let mut stops = turn::StopSignals::new()?;
    let mut calls = ToolCallLog::default();
    let ended = turn::run_turn(
        &setup,
        &chat,
        TurnStart::Ask(UserMessage { text: message, files: &attached }),
        &mut stops,
        &mut calls,
        output,
    )
    .await?;
    print_chat_notices(&setup, output);
    if output.verbose() {
        output.note(format!("chat {chat}; to continue: prowess chat --chat {chat}"));
    }
    match ended {
        TurnEnd::Ended(EndReason::Finished) => return Ok(SUCCESS),
        TurnEnd::Ended(end) => end.description().into_iter().for_each(|about| output.note(about)),
        // The exit code does not depend on the cause, because the usage was correct.
        TurnEnd::Failed(failure) => drop(failure.report(output)),
        TurnEnd::Abandoned => {}
    }
    let stopped_by = stops.received.map(|signal| signals::exit_code_for(signal.as_raw_value()));
    Ok(stopped_by.unwrap_or_else(check_failed))
}

/// Adds local files to a chat, and returns their paths in it.
async fn add_files(setup: &ChatSetup, chat: &str, local: Vec<LocalFile>) -> Result<Vec<String>, Failure> {
    let mut paths = Vec::with_capacity(local.len());
    for file in local {
        paths.push(add_file(&*setup.store, chat, file, setup.file_limits).await?.path);
    }
    Ok(paths)
}

/// Prints the notices of the tools.
fn print_chat_notices(setup: &ChatSetup, output: &mut Output) {
    print_diagnostics(output, &setup.toolbox.take_diagnostics());
    super::print_notices(&setup.toolbox, output);
    if setup.take_tools_lost() {
        output.note("the model does not support tools; load skills with /NAME, and set chat.tools = \"off\" to hide this message");
    }
}

/// Returns `true` if input and output are terminals.
fn is_interactive(output: &Output) -> bool {
    std::io::stdin().is_terminal() && output.is_terminal() && !output.json()
}
