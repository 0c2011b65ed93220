//! Messages of a chat.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::thinking::ThinkingSeal;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message: the text of the user, or everything the model did in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// The unique id of the message.
    pub id: String,
    /// The author.
    pub role: Role,
    /// The content, in order.
    pub parts: Vec<Part>,
    /// Whether the message is complete. In JSON: `"state": "interrupted", "reason": "…"`.
    #[serde(flatten)]
    pub state: MessageState,
    /// The token usage, if the provider reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// When the message was started, in milliseconds since 1970.
    pub at: u64,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A file of the chat that the user attached to the message.
    File {
        /// The path in the workspace of the chat.
        path: String,
        /// The size in bytes when the message was sent.
        size: u64,
        /// The media type.
        media_type: String,
        /// The digest of the content when the message was sent.
        digest: String,
    },
    /// The thinking of the model, before or between its texts and tool calls.
    Thinking {
        /// The thinking, or a summary of it; empty if the provider only returns it encrypted.
        text: String,
        /// What the provider needs to accept the thinking again. It is not shown to clients.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(ignore))]
        seal: Option<ThinkingSeal>,
    },
    /// A summary of earlier messages, which the model is shown in their place. They count again if it is deleted.
    Summary {
        /// The summary.
        text: String,
        /// The ids of the messages that it replaces.
        replaces: Vec<String>,
    },
    /// A tool call of the model.
    ToolCall {
        /// The id that the result refers to.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments of the call.
        arguments: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The stored part of the result. It names skills by digest and never contains their bodies.
        summary: Value,
        /// `success`, `partial` or `error`.
        status: String,
    },
}

impl Message {
    /// Gives the messages that summaries replace their new ids.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn rename_summarized(&mut self, new_ids: &BTreeMap<String, String>) {
        for part in &mut self.parts {
            if let Part::Summary { replaces, .. } = part {
                for id in replaces.iter_mut() {
                    *id = new_ids.get(id).unwrap_or(id).clone();
                }
            }
        }
    }

    /// Returns the text of the message, and the paths of its files.
    pub fn to_request(&self) -> (String, Vec<String>) {
        let (mut text, mut files) = (String::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Text { text: part } => text.push_str(part),
                Part::File { path, .. } => files.push(path.clone()),
                Part::Thinking { .. }
                | Part::Summary { .. }
                | Part::ToolCall { .. }
                | Part::ToolResult { .. } => {}
            }
        }
        (text, files)
    }

    /// Returns the message for clients: without what only the provider can read.
    #[must_use]
    pub fn without_seals(mut self) -> Self {
        for part in &mut self.parts {
            if let Part::Thinking { seal, .. } = part {
                *seal = None;
            }
        }
        self.parts.retain(|part| !matches!(part, Part::Thinking { text, .. } if text.is_empty()));
        self
    }
}

/// Adds a part. Consecutive texts become one part, and so does thinking up to its seal.
pub(crate) fn push_part(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Text { text }), Part::Text { text: delta }) => text.push_str(&delta),
        (Some(Part::Thinking { text, seal: open @ None }), Part::Thinking { text: delta, seal }) => {
            text.push_str(&delta);
            *open = seal;
        }
        (_, Part::Text { text } | Part::Thinking { text, seal: None }) if text.is_empty() => {}
        (_, part) => parts.push(part),
    }
}

/// Whether a message is complete.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = State))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum MessageState {
    /// The message is complete.
    #[default]
    Complete,
    /// The message is being written.
    Writing,
    /// The message was interrupted.
    Interrupted {
        /// The reason, for display.
        reason: String,
    },
}

/// The cost of a message, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Usage))]
pub struct TokenUsage {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that were read from the provider's cache.
    #[serde(default)]
    pub cached: u64,
    /// Input tokens that were written to the provider's cache.
    #[serde(default)]
    pub cache_writes: u64,
}

impl TokenUsage {
    /// Adds other costs. A provider may report any number.
    pub(crate) fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_writes = self.cache_writes.saturating_add(other.cache_writes);
    }
}

/// The prefix of call ids that distinguishes mentions from calls of the model.
pub(crate) const MENTION_PREFIX: &str = "mention_";

/// Returns `true` if the call was made for a mention by the user, not by the model.
pub(crate) fn is_mention(id: &str) -> bool {
    id.starts_with(MENTION_PREFIX)
}

/// The start of the note about attached files, after the text of a message.
pub(crate) const ATTACHED_NOTE: &str = "\n\n[Files attached to this message:";

/// The start of the note about the workspace, after the text of a message.
pub(crate) const WORKSPACE_NOTE: &str = "\n\n[The workspace of this conversation has ";

/// Returns a message as the user wrote it, without the notes about files.
pub(crate) fn without_file_notes(text: &str) -> &str {
    let ends = [ATTACHED_NOTE, WORKSPACE_NOTE].into_iter().filter_map(|note| text.find(note));
    &text[..ends.min().unwrap_or(text.len())]
}
