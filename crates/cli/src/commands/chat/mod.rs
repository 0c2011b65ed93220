//! `prowess chat`: one message and its answer, or a conversation on a terminal.
//!
//! | module | subject |
//! |---|---|
//! | `setup` | the store, the model, the chat that is meant |
//! | `message` | what is said: typed, piped in, or both |
//! | `turn` | one turn, and who ends it early |
//! | `told` | what is seen of a turn: words, calls, JSON |
//! | `words` | words of a model as they may reach a terminal |
//! | `calls` | calls of tools as lines, and what is behind them |
//! | `conversation`, `typed`, `editor` | the terminal: the loop, what is typed, and typing it |
//! | `trouble` | what went wrong, with what to do next |

mod calls;
mod conversation;
mod editor;
mod message;
mod setup;
mod told;
mod trouble;
mod turn;
mod typed;
pub(super) mod words;

use std::io::IsTerminal;
use std::time::Duration;

use prowess_chat::End;
use serde_json::json;
use tokio::runtime::Runtime;

pub(super) use calls::Calls;
pub(super) use setup::open;
pub(super) use trouble::{of_store, unknown_chat};

use super::{Outcome, YES, no, print_located};
use crate::args::{Chat, Global};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Output;
use setup::{Again, Meant, Setup};
use turn::Ended;

pub(super) fn run(context: &Context, global: &Global, call: &Chat, output: &mut Output) -> Outcome {
    let message = message::of(call.message.as_deref(), output)?;
    let runtime = runtime()?;
    let done = match message {
        Some(message) => runtime.block_on(once(context, global, call, &message, output)),
        None => conversation::run(&runtime, context, global, call, output),
    };
    // A tool that was given up must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(5));
    done
}

/// What everything of a chat runs on.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// One message, one answer.
async fn once(
    context: &Context,
    global: &Global,
    call: &Chat,
    message: &str,
    output: &mut Output,
) -> Outcome {
    let setup = Setup::new(context, global, call, Again::Call).await?;
    let meant = Meant::of(call, &setup).await?;
    let chat = meant.begun(&setup).await?;
    if output.json() {
        output.answer(
            &json!({"schema": 1, "type": "chat", "chat": chat, "model": setup.agent.model().name()}),
        )?;
    } else if let Some(line) = setup.no_model(context) {
        output.remark(line);
    }
    if let Some(line) = setup.not_available() {
        output.remark(line);
    }
    output.finish()?;
    let mut stops = turn::Stops::new()?;
    let mut calls = Calls::default();
    let ended = turn::turn(&setup, &chat, message, &mut stops, &mut calls, output).await?;
    notices(&setup, output);
    if output.verbose() {
        output.remark(format!("chat {chat}; to go on: prowess chat --chat {chat}"));
    }
    match ended {
        Ended::So(End::Finished) => return Ok(YES),
        Ended::So(end) => end.about().into_iter().for_each(|about| output.remark(about)),
        // Whatever the reason: the call was right, and the answer is not there.
        Ended::BrokenOff(failure) => drop(failure.report(output)),
        Ended::Left => {}
    }
    Ok(no())
}

/// What the tools noticed on the way.
fn notices(setup: &Setup, output: &mut Output) {
    print_located(output, &setup.toolbox.take_diagnostics());
    super::notices(&setup.toolbox, output);
    if setup.lost_tools() {
        output.remark("the model cannot call tools; load skills yourself with /NAME (chat.tools = \"off\" says so from the start)");
    }
}

/// Whether a person sits at both ends.
fn is_conversation(output: &Output) -> bool {
    std::io::stdin().is_terminal() && output.is_terminal() && !output.json()
}
