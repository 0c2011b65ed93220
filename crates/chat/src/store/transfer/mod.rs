//! Chats as JSON: to take them along, to look at, to keep a copy of.
//!
//! ```json
//! {"format": "prowess-chats", "version": 1, "exported": 1700000000000,
//!  "chats": [{"id": "…", "title": "…", "preset": "standard", "created": 1, "updated": 2,
//!             "activated_skill_names": ["pdf"],
//!             "messages": [{"id": "…", "role": "user", "parts": [{"type": "text", "text": "…"}],
//!                           "state": "complete", "at": 1}]}]}
//! ```

mod export;
mod import;

pub use export::{Which, export};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use import::checked;
pub use import::{IMPORT_MAX, Imported, import, read};

use serde::{Deserialize, Serialize};

use crate::Message;

/// What a file of chats calls itself.
pub const FORMAT: &str = "prowess-chats";

/// The latest version of the format, which this program writes.
pub const VERSION: u64 = 1;

/// A whole chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id where it comes from. It keeps it unless there is such a chat already.
    pub id: String,
    /// What people call it.
    #[serde(default)]
    pub title: String,
    /// The preset that it was begun with.
    #[serde(default)]
    pub preset: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: u64,
    /// When something was last said.
    pub updated: u64,
    /// The skills that are active.
    #[serde(default)]
    pub activated_skill_names: Vec<String>,
    /// What was said, in order.
    pub messages: Vec<Message>,
}
