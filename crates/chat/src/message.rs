//! What was said in a chat.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// One message: what the person wrote, or everything the model did until it was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// Unlike that of any other message.
    pub id: String,
    /// Who said it.
    pub role: Role,
    /// What it is made of, in order.
    pub parts: Vec<Part>,
    /// Whether it is all there. In JSON: `"state": "interrupted", "reason": "…"`.
    #[serde(flatten)]
    pub state: State,
    /// What it cost, where the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// When it was begun, in milliseconds since 1970.
    pub at: u64,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// What was said.
    Text {
        /// The words.
        text: String,
    },
    /// The model called a tool.
    ToolCall {
        /// What its result refers to.
        id: String,
        /// The tool.
        name: String,
        /// What it was called with.
        arguments: Value,
    },
    /// What the tool answered.
    ToolResult {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// What is kept of the answer: never the body of a skill, which is named by its digest.
        summary: Value,
        /// `success`, `partial` or `error`.
        status: String,
    },
}

/// Whether a message is all there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It is.
    #[default]
    Complete,
    /// It is being written.
    Writing,
    /// It broke off.
    Interrupted {
        /// Why, for people.
        reason: String,
    },
}

/// What a message cost, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    /// What the model read.
    pub input: u64,
    /// What it wrote.
    pub output: u64,
    /// How much of what it read came from the provider's cache.
    #[serde(default)]
    pub cached: u64,
}

/// How calls are told from the model's own.
pub(crate) const OURS: &str = "mention_";

/// Whether a call was made for the person, not by the model.
pub(crate) fn is_mention(id: &str) -> bool {
    id.starts_with(OURS)
}
