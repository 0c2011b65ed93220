//! Requests to a model, and the chunks of its reply.

use std::time::Duration;

use prowess_tools::ToolDefinition;
use serde_json::Value;

use crate::message::TokenUsage;
use crate::thinking::{SealedContent, ThinkingSeal};

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
        /// The thinking that its provider accepts again.
        thinking: Vec<ThinkingBlock>,
        /// The tool calls.
        calls: Vec<ToolInvocation>,
    },
    /// Tool results, one for each call.
    Results(Vec<ToolOutput>),
}

/// Thinking that its provider accepts again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThinkingBlock {
    /// The thinking, or a summary of it.
    pub text: String,
    /// Where in the text of the reply it is, in bytes.
    pub offset: usize,
    /// The provider's seal.
    pub seal: ThinkingSeal,
}

/// A piece of a reply.
pub(super) enum ReplyPiece<'a> {
    Thinking(&'a ThinkingBlock),
    Text(&'a str),
    Call(&'a ToolInvocation),
}

/// Returns the pieces of a reply in the order in which the model wrote them, without thinking of other models than `model`.
/// Texts without content are omitted.
pub(super) fn reply_pieces<'a>(
    text: &'a str,
    thinking: &'a [ThinkingBlock],
    calls: &'a [ToolInvocation],
    model: Option<&str>,
) -> Vec<ReplyPiece<'a>> {
    let mut blocks = thinking.iter().filter(|block| Some(block.seal.model.as_str()) == model).peekable();
    let mut pieces = Vec::new();
    let push_text = |pieces: &mut Vec<ReplyPiece<'a>>, segment: &'a str| {
        if !segment.trim().is_empty() {
            pieces.push(ReplyPiece::Text(segment));
        }
    };
    let mut start = 0;
    while let Some(block) = blocks.next_if(|block| block.seal.calls == 0) {
        let end = text.floor_char_boundary(block.offset).max(start);
        push_text(&mut pieces, &text[start..end]);
        start = end;
        pieces.push(ReplyPiece::Thinking(block));
    }
    push_text(&mut pieces, &text[start..]);
    for (number, call) in calls.iter().enumerate() {
        while let Some(block) = blocks.next_if(|block| block.seal.calls <= number) {
            pieces.push(ReplyPiece::Thinking(block));
        }
        pieces.push(ReplyPiece::Call(call));
    }
    // Thinking after the last call belongs to nothing that follows.
    pieces
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
    /// Thinking of the model.
    Thinking(String),
    /// The thinking since the last seal is complete; the provider accepts it again with this seal.
    Sealed(SealedContent),
    /// A complete tool call.
    Call {
        /// The id that the result must refer to.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments as received; they may not be valid JSON.
        arguments: String,
    },
    /// The request failed and is sent again after a delay.
    Waiting {
        /// Why it failed, for display.
        reason: String,
        /// How long the provider is left alone.
        delay: Duration,
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
    /// The provider paused the reply; it continues if it is sent back.
    Paused,
    /// A reason that this version does not know.
    Other(String),
}
