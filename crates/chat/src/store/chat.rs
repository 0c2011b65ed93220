//! Chats in lists, and pages of lists.

use std::collections::BTreeMap;

use prowess::usage;
use serde::{Deserialize, Serialize};

use crate::{Message, TokenUsage};

/// A chat without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Chat {
    /// The unique id of the chat.
    pub id: String,
    /// The title; may be empty.
    pub title: String,
    /// The preset that the chat was created with.
    pub preset: String,
    /// When the chat was created, in milliseconds since 1970.
    pub created: u64,
    /// When the last message was added.
    pub updated: u64,
    /// The number of messages.
    #[serde(rename = "message_count")]
    pub messages: u64,
    /// The names of the active skills, in the order of activation.
    pub activated_skill_names: Vec<String>,
    /// The total token usage.
    pub usage: TokenUsage,
    /// Whether the chat is listed first.
    #[serde(default)]
    pub pinned: bool,
    /// Whether the chat is listed only among archived chats.
    #[serde(default)]
    pub archived: bool,
    /// The id of the message that is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writing: Option<String>,
    /// The number of the last event.
    pub seq: u64,
}

/// The properties of a new chat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NewChat {
    /// The title; may be empty.
    #[serde(default)]
    pub title: String,
    /// The preset.
    #[serde(default)]
    pub preset: String,
}

/// A message of the user to answer.
///
/// ```
/// use prowess_chat::store::UserMessage;
///
/// assert!(UserMessage::from("Hello").files.is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UserMessage<'a> {
    /// The text.
    pub text: &'a str,
    /// The paths of the files of the chat that are attached to it.
    pub files: &'a [String],
}

impl UserMessage<'_> {
    /// Returns the text and the paths.
    pub(super) fn to_owned(self) -> (String, Vec<String>) {
        (self.text.to_owned(), self.files.to_vec())
    }
}

impl<'a> From<&'a str> for UserMessage<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, files: &[] }
    }
}

/// A page of chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatPage {
    /// The chats, most recent first.
    pub chats: Vec<Chat>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A page of messages of a chat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessagePage {
    /// The messages in order.
    pub messages: Vec<Message>,
    /// The cursor of earlier messages; `None` if there are none.
    pub before: Option<u64>,
    /// The number of the last event that these messages include. To follow the chat, start after it.
    pub seq: u64,
    /// The versions of the messages that have several, by their ids.
    pub versions: BTreeMap<String, MessageVersions>,
}

/// The versions of a message. The others were replaced by editing a message or generating a reply again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MessageVersions {
    /// The number of this version, from 1.
    pub index: u64,
    /// The number of versions.
    pub count: u64,
    /// The id of the previous version.
    pub previous: Option<String>,
    /// The id of the next version.
    pub next: Option<String>,
}

/// A version of a message and what follows it, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StoredBranch {
    /// The id of its first message.
    pub id: String,
    /// The position of its first message.
    pub position: u64,
    /// The inactive branch in which it begins; `None` if it begins in the current messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Orders the versions of a message.
    pub number: u64,
    /// The skills that are active with it.
    #[serde(default)]
    pub activated_skill_names: Vec<String>,
    /// The messages; `None` if they are part of the parent, because the branch is active there.
    pub messages: Option<Vec<Message>>,
}

/// A chat that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundChat {
    /// The chat.
    #[serde(flatten)]
    pub chat: Chat,
    /// The id of the latest message that was found; `None` if only the title was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The part of the message around the words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

impl From<Chat> for FoundChat {
    fn from(chat: Chat) -> Self {
        Self { chat, message: None, excerpt: None }
    }
}

/// Changes of how a chat is listed; `None` leaves a property as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListingChange {
    /// Whether the chat is listed first.
    pub pinned: Option<bool>,
    /// Whether the chat is listed only among archived chats.
    pub archived: Option<bool>,
}

/// How often a skill was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillUse {
    /// The name of the skill.
    pub name: String,
    /// The number of uses.
    pub count: u64,
    /// When it was last used, in milliseconds since 1970.
    pub last: u64,
}

/// Converts skill uses into the form that ranking needs.
///
/// ```
/// use prowess_chat::store::{SkillUse, to_skill_usage};
///
/// let usage = to_skill_usage(&[SkillUse { name: "pdf".to_owned(), count: 3, last: 1_000_000 }]);
/// assert_eq!(usage.recency("pdf", 1_000), 1.0);
/// ```
pub fn to_skill_usage(uses: &[SkillUse]) -> usage::SkillUsage {
    let mut usage_map = usage::SkillUsage::default();
    // Oldest first, because the oldest are dropped if there are too many.
    for used in uses.iter().rev() {
        usage_map.record_at(&used.name, used.last / 1_000);
    }
    usage_map
}
