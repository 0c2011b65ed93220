//! Chats as JSON, for export, import and backup.
//!
//! ```json
//! {"format": "prowess-chats", "version": 3, "exported": 1700000000000,
//!  "chats": [{"id": "…", "title": "…", "preset": "standard", "created": 1, "updated": 2,
//!             "activated_skill_names": ["pdf"],
//!             "messages": [{"id": "…", "role": "user", "parts": [{"type": "text", "text": "…"}],
//!                           "state": "complete", "at": 1}],
//!             "files": [{"path": "data/prices.csv", "size": 3, "media_type": "text/csv", "digest": "sha256:…",
//!                        "origin": "uploaded", "created": 1, "changed": 1, "content": "YSxi"}]}]}
//! ```
//!
//! Version 1 has no files, and version 2 no thinking, no summaries and no other versions of messages (`branches`). The content
//! of a file is Base64.

mod export;
mod exported_file;
mod import;

pub use export::{ExportSelection, export};
pub use exported_file::ExportedFile;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use import::check_chat;
pub use import::{IMPORT_MAX, ImportedChat, import, parse_export};

use serde::{Deserialize, Serialize};

use super::chat::StoredBranch;
use crate::Message;

/// The format name of an export.
pub const FORMAT: &str = "prowess-chats";

/// The current version of the format.
pub const VERSION: u64 = 3;

/// A whole chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedChat {
    /// The original id. It is kept on import unless it is taken.
    pub id: String,
    /// The title.
    #[serde(default)]
    pub title: String,
    /// The preset that the chat was created with.
    #[serde(default)]
    pub preset: String,
    /// When the chat was created, in milliseconds since 1970.
    pub created: u64,
    /// When the last message was added.
    pub updated: u64,
    /// The active skills.
    #[serde(default)]
    pub activated_skill_names: Vec<String>,
    /// The messages in order.
    pub messages: Vec<Message>,
    /// The files of the workspace.
    #[serde(default)]
    pub files: Vec<ExportedFile>,
    /// Other versions of messages.
    #[serde(default)]
    pub branches: Vec<StoredBranch>,
    /// Whether the chat is listed first.
    #[serde(default)]
    pub pinned: bool,
    /// Whether the chat is archived.
    #[serde(default)]
    pub archived: bool,
}
