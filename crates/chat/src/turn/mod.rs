//! The turn loop: ask the model, run its tool calls, repeat until it is done. A turn is one message of the user and the
//! complete reply.
//!
//! | module | subject |
//! |---|---|
//! | `run` | the loop |
//! | `compose`, `reply` | one request to the model, and its reply |
//! | `mention` | skills that the user mentions by name |
//! | `prompt` | the system prompt |
//! | `preview` | the first request of a turn, without sending it |
//! | `files` | the names of the chat's files as sent to the model |
//! | `history` | stored messages as sent to the model |
//! | `context` | fits a conversation into the context window |
//! | `compact` | lets the model summarize what does not fit |
//! | `calls`, `dispatch` | run tool calls |
//! | `summary` | summaries of tool results for storage and display |
//! | `repeat` | detects repeated calls |
//! | `record`, `journal` | record events before they are reported |
//!
//! Invariants: every turn ends, and its end has a reason; nothing is shown before it is recorded; when a turn is over,
//! nothing that it started is still running.

mod calls;
mod compact;
mod compose;
mod consent;
mod context;
mod dispatch;
mod end;
mod files;
mod history;
mod journal;
mod mention;
mod preview;
mod prompt;
mod record;
mod repeat;
mod reply;
mod run;
mod summary;

use std::fmt;
use std::sync::Arc;

use prowess_config::ChatLimits;
use prowess_tools::{Toolbox, WorkspaceFiles};
use tokio_util::sync::CancellationToken;

pub use consent::ConsentSource;
pub use end::{TurnError, TurnReport};
pub use preview::TurnPreview;
pub use record::{MemoryRecorder, RecordError, TurnMessages, TurnRecorder};
pub(crate) use summary::{is_reminder, loaded_skill_name};

use crate::event::TurnEvent;
use crate::message::Message;
use crate::provider::Model;

/// The maximum size of a message, in bytes.
pub const MESSAGE_MAX: usize = 1024 * 1024;

/// A model with skills and limits: all that a turn needs besides the conversation. It has no state between turns.
#[derive(Debug, Clone)]
pub struct Agent {
    toolbox: Arc<Toolbox>,
    model: Arc<dyn Model>,
    limits: ChatLimits,
    skill_models: Vec<String>,
    workspace_tools: bool,
}

/// The input of a turn.
#[derive(Clone, Copy, Default)]
pub struct TurnInput<'a> {
    /// The id of the chat.
    pub chat: &'a str,
    /// The previous messages, oldest first.
    pub history: &'a [Message],
    /// The names of the active skills.
    pub activated: &'a [String],
    /// The new message of the user.
    pub text: &'a str,
    /// The paths of the files that are attached to the message.
    pub attached: &'a [String],
    /// The files of the chat, which scripts read and change.
    pub workspace: Option<&'a Arc<dyn WorkspaceFiles>>,
    /// Answers questions about scripts. Without it, only scripts that the configuration allows run.
    pub consent: Option<&'a Arc<dyn ConsentSource>>,
}

impl fmt::Debug for TurnInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnInput")
            .field("chat", &self.chat)
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

impl Agent {
    /// Creates an agent from a model, skills and limits.
    pub fn new(toolbox: Arc<Toolbox>, model: Arc<dyn Model>, limits: ChatLimits) -> Self {
        Self { toolbox, model, limits, skill_models: Vec::new(), workspace_tools: false }
    }

    /// Lets skills choose these models with `model`: `NAME` or `NAME=MODEL`, where `MODEL` is the provider's name.
    pub fn with_skill_models(self, skill_models: Vec<String>) -> Self {
        Self { skill_models, ..self }
    }

    /// Lets the model list, read and write the files of the workspace itself.
    pub fn with_workspace_tools(self) -> Self {
        Self { workspace_tools: true, ..self }
    }

    /// Returns the provider's name of a model that a skill asks for, if the user allows it.
    fn allowed_model(&self, name: &str) -> Option<&str> {
        self.skill_models.iter().find_map(|entry| match entry.split_once('=') {
            Some((alias, model)) => (alias.trim() == name).then_some(model.trim()),
            None => (entry == name).then_some(entry.as_str()),
        })
    }

    /// Returns the model.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// Runs a turn. Each event is recorded with `record` and then reported to `on_event`; the last one is
    /// [`TurnEvent::Done`] or [`TurnEvent::Error`]. `cancel` ends the turn early, including scripts; so does dropping the
    /// future.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use prowess_config::{ChatLimits, ChatSettings};
    /// use prowess::{Policy, Registry};
    /// use prowess_chat::EndReason;
    /// use prowess_chat::provider::connect;
    /// use prowess_chat::turn::{Agent, MemoryRecorder, TurnInput};
    /// use prowess_tools::Toolbox;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolbox = Arc::new(Toolbox::new(Arc::new(Registry::open(Policy::default())?)));
    /// let model = connect(&ChatSettings::default(), |_| None, &toolbox)?;   // no provider: the rehearsal
    /// let agent = Agent::new(toolbox, model, ChatLimits::default());
    /// let mut chat = MemoryRecorder::default();
    /// let input = TurnInput { chat: "c1", text: "/hello-world", ..TurnInput::default() };
    /// let outcome = agent.turn(input, &mut chat, &mut |_| {}, &Default::default()).await;
    /// assert_eq!(outcome.end, Ok(EndReason::Finished));
    /// assert_eq!(outcome.activated, ["hello-world"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn turn(
        &self,
        input: TurnInput<'_>,
        record: &mut dyn TurnRecorder,
        on_event: &mut (dyn FnMut(TurnEvent) + Send),
        cancel: &CancellationToken,
    ) -> TurnReport {
        run::turn(self, input, record, on_event, cancel).await
    }
}
