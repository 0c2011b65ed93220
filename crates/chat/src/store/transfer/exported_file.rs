//! Files of chats in an export.

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prowess::format::hidden::escape_for_display;
use prowess_config::ChatFileLimits;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::store::files::{check_tree, parse_path};
use crate::store::limits::TIME_MAX;
use crate::store::media_type::is_media_type;
use crate::store::{ChatFile, StoreError};

/// A file of a chat with its content, which is Base64 in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedFile {
    /// The file.
    #[serde(flatten)]
    pub entry: ChatFile,
    /// The content.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub content: Vec<u8>,
}

fn to_base64<S: Serializer>(content: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(content))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64_STANDARD.decode(text).map_err(|_| D::Error::custom("the content of a file is not Base64"))
}

/// Checks the files of a chat. The configured limits apply to new files only: what was stored once can be restored.
pub(super) fn check_files(files: &[ExportedFile]) -> Result<(), StoreError> {
    let max = u64::from(ChatFileLimits::WORKSPACE_FILES_MAX);
    if files.len() as u64 > max {
        return Err(StoreError::TooManyFiles { count: files.len() as u64, max });
    }
    let mut paths = BTreeSet::new();
    for ExportedFile { entry, content } in files {
        let path = parse_path(&entry.path)?;
        let invalid = |problem: &str| StoreError::Invalid(format!("the file {path} {problem}"));
        let (bytes, max) = (content.len() as u64, ChatFileLimits::FILE_BYTES_MAX);
        if bytes > max {
            return Err(StoreError::TooLarge { subject: "a file of a chat", bytes, max });
        }
        if entry.size != bytes || entry.digest != prowess::digest(content) {
            return Err(invalid("does not match its size and digest"));
        }
        if !is_media_type(&entry.media_type) {
            let given: String = entry.media_type.chars().take(80).collect();
            return Err(invalid(&format!("has an invalid media type: {}", escape_for_display(&given))));
        }
        if entry.created.max(entry.changed) > TIME_MAX {
            return Err(invalid("has an invalid time"));
        }
        if !paths.insert(entry.path.as_str()) {
            return Err(invalid("is listed twice"));
        }
    }
    check_tree(paths.into_iter())
}
