//! The first request of a turn, composed but not sent.

use prowess_tools::ToolDefinition;
use tokio_util::sync::CancellationToken;

use super::end::TurnError;
use super::journal::TurnJournal;
use super::record::MemoryRecorder;
use super::run::ActiveTurn;
use super::{Agent, TurnInput};
use crate::provider::ConversationEntry;

/// The first request of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnPreview {
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest first, with the skills that the message mentions.
    pub entries: Vec<ConversationEntry>,
    /// How many entries precede the message.
    pub past: usize,
    /// The available tools.
    pub tools: Vec<ToolDefinition>,
    /// The skills that are active after the mentions.
    pub activated: Vec<String>,
}

impl Agent {
    /// Returns the first request of a turn. Stores and sends nothing, and does not count skill uses.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use prowess_config::{ChatLimits, ChatSettings};
    /// use prowess::{Policy, Registry};
    /// use prowess_chat::provider::connect;
    /// use prowess_chat::turn::{Agent, TurnInput};
    /// use prowess_tools::Toolbox;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolbox = Arc::new(Toolbox::new(Arc::new(Registry::open(Policy::default())?)));
    /// let model = connect(&ChatSettings::default(), |_| None, &toolbox)?;
    /// let agent = Agent::new(toolbox, model, ChatLimits::default());
    /// let input = TurnInput { chat: "c1", text: "/code-review", ..TurnInput::default() };
    /// let preview = agent.preview(input).await?;
    /// assert!(preview.system.contains("code-review"));
    /// assert_eq!(preview.activated, ["code-review"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn preview(&self, input: TurnInput<'_>) -> Result<TurnPreview, TurnError> {
        let (mut memory, cancel) = (MemoryRecorder::default(), CancellationToken::new());
        let mut ignore = |_| {};
        let mut journal = TurnJournal { record: &mut memory, on_event: &mut ignore };
        let mut turn = ActiveTurn::new(self, input, "preview", &cancel);
        turn.session.call_options.is_preview = true;
        turn.prepare(&mut journal, input, "preview").await?;
        let (entries, tools) = turn.compose().await?;
        let current = turn.context.current.len();
        let past = entries.len().saturating_sub(current);
        let activated = turn.active_skills();
        Ok(TurnPreview { system: std::mem::take(&mut turn.system), entries, past, tools, activated })
    }
}
