//! Events of a turn.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::TokenUsage;
use crate::thinking::ThinkingSeal;

/// An event of a turn. In streams over HTTP, the tag is the name of the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnEvent {
    /// The model produced text.
    Delta {
        /// The text.
        text: String,
    },
    /// The model thinks.
    Thinking {
        /// The thinking, or a summary of it.
        text: String,
        /// What the provider needs to accept the thinking again; it ends a part. It is not shown to clients.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<ThinkingSeal>,
    },
    /// Earlier messages no longer fit, and the model is shown a summary of them instead.
    Summary {
        /// The summary.
        text: String,
        /// The ids of the messages that it replaces.
        replaces: Vec<String>,
    },
    /// The provider failed or is busy, and the request is sent again after a delay. Not part of the message.
    Waiting {
        /// The reason, for display.
        reason: String,
        /// The delay in seconds.
        seconds: u64,
    },
    /// The model cannot call tools, as the provider says, and continues without them. Not part of the message.
    ToolsDisabled {
        /// The provider's message, for display.
        reason: String,
    },
    /// The model called a tool.
    ToolCall {
        /// The id that the result refers to.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments of the call.
        arguments: Value,
    },
    /// A script waits for the consent of the user.
    Consent(ConsentQuestion),
    /// The tool returned a result.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// `success`, `partial` or `error`.
        status: String,
        /// The result for display; large values are truncated and marked.
        data: Value,
    },
    /// The turn ended.
    Done {
        /// The id of the model's message.
        message_id: String,
        /// Why the turn ended: `end`, `steps`, `tokens`, `length`, `repeated`, `declined`, `cancelled`; see
        /// [`EndReason`](crate::EndReason).
        reason: String,
        /// The token usage.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<TokenUsage>,
        /// The active skills.
        activated_skill_names: Vec<String>,
    },
    /// The turn failed; the text so far is kept.
    Error {
        /// A stable error code.
        code: String,
        /// What happened, for display.
        message: String,
    },
}

impl TurnEvent {
    /// Returns the event for clients: without what only the provider can read.
    #[must_use]
    pub fn without_seal(self) -> Self {
        match self {
            Self::Thinking { text, .. } => Self::Thinking { text, seal: None },
            event => event,
        }
    }
}

/// A question whether a script may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConsentQuestion {
    /// The id of the tool call.
    pub id: String,
    /// The random id that an answer must name; `None` if the question is asked elsewhere, such as in a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The skill.
    pub skill: String,
    /// The script.
    pub script: String,
    /// What the script may access.
    pub access: Vec<AccessRow>,
}

/// What a script may read, write or reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccessRow {
    /// The kind of access: `reads`, `writes`, `network`, `variables`, `sandbox`.
    pub title: String,
    /// A description for display.
    pub text: String,
}
