//! What a model would be given for a message: made as in a turn, and then not sent.

use prowess_tools::ToolDefinition;
use tokio_util::sync::CancellationToken;

use super::end::TurnError;
use super::journal::{Journal, names};
use super::record::Memory;
use super::run::Running;
use super::{Agent, Input};
use crate::provider::Entry;

/// The first request of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// What the model is told before everything else.
    pub system: String,
    /// What was said, the oldest first; what the message calls by name is loaded behind it.
    pub entries: Vec<Entry>,
    /// How many of the entries were there before the message.
    pub past: usize,
    /// The tools that it may call.
    pub tools: Vec<ToolDefinition>,
    /// The skills that are active then.
    pub activated: Vec<String>,
}

impl Agent {
    /// What the model would be given. Nothing is kept, nobody is asked, and no skill counts as used.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use prowess_config::{Chat, ChatLimits};
    /// use prowess::{Policy, Registry};
    /// use prowess_chat::provider::connect;
    /// use prowess_chat::turn::{Agent, Input};
    /// use prowess_tools::Toolbox;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolbox = Arc::new(Toolbox::new(Arc::new(Registry::open(Policy::default())?)));
    /// let model = connect(&Chat::default(), |_| None, &toolbox)?;
    /// let agent = Agent::new(toolbox, model, ChatLimits::default());
    /// let input = Input { chat: "c1", history: &[], activated: &[], text: "/hello-world" };
    /// let preview = agent.preview(input).await?;
    /// assert!(preview.system.contains("hello-world"));
    /// assert_eq!(preview.activated, ["hello-world"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn preview(&self, input: Input<'_>) -> Result<Preview, TurnError> {
        let (mut memory, cancel) = (Memory::default(), CancellationToken::new());
        let mut heard = |_| {};
        let mut journal = Journal { record: &mut memory, heard: &mut heard };
        let mut running = Running::new(self, input, "preview", &cancel);
        running.session.waiting.only_looks = true;
        running.prepare(&mut journal, input, "preview").await?;
        let (entries, tools) = running.compose().await?;
        let now = running.context.now.len();
        let past = entries.len().saturating_sub(now);
        let activated = names(&running.session);
        Ok(Preview { system: std::mem::take(&mut running.system), entries, past, tools, activated })
    }
}
