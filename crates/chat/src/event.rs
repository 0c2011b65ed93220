//! What happens during a turn, as it happens.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Usage;

/// One thing that happened. In streams over HTTP, the tag is the name of the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The model said more.
    Delta {
        /// The words.
        text: String,
    },
    /// The model called a tool.
    ToolCall {
        /// What its result refers to.
        id: String,
        /// The tool.
        name: String,
        /// What it is called with.
        arguments: Value,
    },
    /// The tool answered.
    ToolResult {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// `success`, `partial` or `error`.
        status: String,
        /// What a page shows of the answer; large parts are cut, and say so.
        data: Value,
    },
    /// The turn is over.
    Done {
        /// The model's message.
        message_id: String,
        /// Why it stopped: `end`, `steps`, `tokens`, `length`, `repeated`, `declined`, `cancelled`; see
        /// [`End`](crate::End).
        reason: String,
        /// What it cost.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The skills that are active now.
        activated_skill_names: Vec<String>,
    },
    /// The turn broke off; what was said so far is kept.
    Error {
        /// One of the contract's codes.
        code: String,
        /// What happened, for people.
        message: String,
    },
}
