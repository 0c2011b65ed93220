//! Requests to a model, and the chunks of its reply.

use prowess_tools::ToolDefinition;
use serde_json::Value;

use crate::message::TokenUsage;

/// A request to a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The conversation, oldest first. It ends with a message of the user or with tool results.
    pub entries: &'a [ConversationEntry],
    /// The tools that the model may call; empty if it cannot call tools.
    pub tools: &'a [ToolDefinition],
    /// The model to use in place of the configured one.
    pub model: Option<&'a str>,
    /// The maximum number of tokens of the reply.
    pub max_output_tokens: u32,
}

/// A step of a conversation as sent to a model.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationEntry {
    /// A message of the user.
    User(String),
    /// A reply of the model with its tool calls.
    Assistant {
        /// The text.
        text: String,
        /// The tool calls.
        calls: Vec<ToolInvocation>,
    },
    /// Tool results, one for each call.
    Results(Vec<ToolOutput>),
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInvocation {
    /// The id that the result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments; anything but an object is sent as an empty object.
    pub arguments: Value,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The text for the model.
    pub text: String,
    /// Whether the call failed.
    pub failed: bool,
}

/// A chunk of a model's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunk {
    /// Text.
    Text(String),
    /// A complete tool call.
    Call {
        /// The id that the result must refer to.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments as received; they may not be valid JSON.
        arguments: String,
    },
    /// The usage of this request so far.
    Usage(TokenUsage),
    /// The reply is complete.
    End(StopReason),
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished, or waits for tool results.
    Finished,
    /// The reply reached the length limit.
    Length,
    /// The model or its provider refused to continue.
    Declined,
    /// A reason that this version does not know.
    Other(String),
}
