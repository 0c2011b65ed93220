//! One turn: a message comes in, the model is asked, its tools are called, until it is done.
//!
//! | module | subject |
//! |---|---|
//! | `run` | the loop, and its ends |
//! | `compose`, `ask` | one request to the model: what goes into it, and what comes back |
//! | `mention` | skills that the person calls by name, before the model is asked |
//! | `prompt` | what the model is told before everything else |
//! | `preview` | what a model would be given, without asking it |
//! | `history` | what was said before, as the model is shown it |
//! | `context` | what is left out when a conversation gets too long, and what never is |
//! | `calls`, `dispatch` | calling tools: all that the model wants, and each |
//! | `kept` | what is kept and shown of a tool's answer |
//! | `repeat` | the same call over and over |
//! | `record`, `journal` | where all of it is written down, before it is told |
//!
//! What must always hold: whatever the model does, a turn ends, and its end has a name; nothing is shown that was not
//! written down first; and when a turn is over, nothing that it started runs on.

mod ask;
mod calls;
mod compose;
mod context;
mod dispatch;
mod end;
mod history;
mod journal;
mod kept;
mod mention;
mod preview;
mod prompt;
mod record;
mod repeat;
mod run;

use std::sync::Arc;

use prowess_config::ChatLimits;
use prowess_tools::Toolbox;
use tokio_util::sync::CancellationToken;

pub use end::{Outcome, TurnError};
pub(crate) use kept::{is_reminder, loaded_skill};
pub use preview::Preview;
pub use record::{Begun, Memory, Record, RecordError};

use crate::event::Event;
use crate::message::Message;
use crate::provider::Model;

/// The longest message, in bytes.
pub const MESSAGE_MAX: usize = 1024 * 1024;

/// A model, skills, and bounds: all that a turn needs besides the conversation. It keeps nothing between turns.
#[derive(Debug, Clone)]
pub struct Agent {
    toolbox: Arc<Toolbox>,
    model: Arc<dyn Model>,
    limits: ChatLimits,
}

/// What a turn begins with.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The chat.
    pub chat: &'a str,
    /// What was said before, the oldest first.
    pub history: &'a [Message],
    /// The names of the skills that are active.
    pub activated: &'a [String],
    /// What the person says now.
    pub text: &'a str,
}

impl Agent {
    /// A model with these skills, within these bounds.
    pub fn new(toolbox: Arc<Toolbox>, model: Arc<dyn Model>, limits: ChatLimits) -> Self {
        Self { toolbox, model, limits }
    }

    /// The model.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// One turn. Everything is written down through `record` and told through `heard` as it happens; the last event is
    /// [`Event::Done`] or [`Event::Error`]. `cancel` ends it early, scripts included; so does dropping the future.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use prowess_config::{Chat, ChatLimits};
    /// use prowess::{Policy, Registry};
    /// use prowess_chat::End;
    /// use prowess_chat::provider::connect;
    /// use prowess_chat::turn::{Agent, Input, Memory};
    /// use prowess_tools::Toolbox;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolbox = Arc::new(Toolbox::new(Arc::new(Registry::open(Policy::default())?)));
    /// let model = connect(&Chat::default(), |_| None, &toolbox)?;   // no provider: the rehearsal
    /// let agent = Agent::new(toolbox, model, ChatLimits::default());
    /// let mut chat = Memory::default();
    /// let input = Input { chat: "c1", history: &[], activated: &[], text: "/hello-world" };
    /// let outcome = agent.turn(input, &mut chat, &mut |_| {}, &Default::default()).await;
    /// assert_eq!(outcome.end, Ok(End::Finished));
    /// assert_eq!(outcome.activated, ["hello-world"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn turn(
        &self,
        input: Input<'_>,
        record: &mut dyn Record,
        heard: &mut (dyn FnMut(Event) + Send),
        cancel: &CancellationToken,
    ) -> Outcome {
        run::turn(self, input, record, heard, cancel).await
    }
}
