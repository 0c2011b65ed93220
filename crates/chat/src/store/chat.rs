//! A chat as it is listed, and the pages that lists come in.

use prowess::usage;
use serde::{Deserialize, Serialize};

use crate::{Message, Usage};

/// A chat without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Chat {
    /// Unlike that of any other chat.
    pub id: String,
    /// What people call it; may be empty.
    pub title: String,
    /// The preset that it was begun with.
    pub preset: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: u64,
    /// When something was last said.
    pub updated: u64,
    /// How many messages it has.
    #[serde(rename = "message_count")]
    pub messages: u64,
    /// The skills that are active, by name, in the order in which they were activated.
    pub activated_skill_names: Vec<String>,
    /// What all of it cost.
    pub usage: Usage,
    /// The message that is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writing: Option<String>,
    /// The number of the last event.
    pub seq: u64,
}

/// A chat that is to be begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NewChat {
    /// What people call it; may be empty.
    #[serde(default)]
    pub title: String,
    /// The preset it is begun with.
    #[serde(default)]
    pub preset: String,
}

/// Some chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatPage {
    /// The latest first.
    pub chats: Vec<Chat>,
    /// What the next page begins after; `None` when this is the last.
    pub next: Option<String>,
}

/// Some messages of a chat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessagePage {
    /// In the order in which they were said.
    pub messages: Vec<Message>,
    /// Where earlier messages are found; `None` when there are none.
    pub before: Option<u64>,
    /// The number of the last event that these messages know of: whoever follows the chat begins after it.
    pub seq: u64,
}

/// How often a skill was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillUse {
    /// The skill.
    pub name: String,
    /// How often.
    pub count: u64,
    /// When it was last used, in milliseconds since 1970.
    pub last: u64,
}

/// What the ranking of skills wants to know of their use.
///
/// ```
/// use prowess_chat::store::{SkillUse, recency};
///
/// let usage = recency(&[SkillUse { name: "pdf".to_owned(), count: 3, last: 1_000_000 }]);
/// assert_eq!(usage.recency("pdf", 1_000), 1.0);
/// ```
pub fn recency(uses: &[SkillUse]) -> usage::Usage {
    let mut known = usage::Usage::default();
    // The oldest first: where there are too many, those are forgotten.
    for used in uses.iter().rev() {
        known.note(&used.name, used.last / 1_000);
    }
    known
}
