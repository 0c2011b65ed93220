//! The wire types of the skills extension of the protocol, `io.modelcontextprotocol/skills`.
//!
//! The SDK has no types for it yet. This module can be removed once it does.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the extension in capabilities.
pub const EXTENSION_ID: &str = "io.modelcontextprotocol/skills";

/// Lists the skills of a server.
pub const LIST_METHOD: &str = "skills/list";

/// Gets the entry of one skill.
pub const GET_METHOD: &str = "skills/get";

/// Lists the direct children of a directory.
pub const DIRECTORY_READ_METHOD: &str = "resources/directory/read";

/// The media type of a directory.
pub const DIRECTORY_MEDIA_TYPE: &str = "inode/directory";

/// The maximum number of files of a skill that every host accepts.
pub const FILES_MAX: usize = 512;

/// The maximum size of a skill in bytes that every host accepts.
pub const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The settings of a server with the extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtensionSettings {
    /// Whether directories can be listed.
    pub directory_read: bool,
}

/// The entry of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkillEntry {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The original frontmatter.
    pub frontmatter: Map<String, Value>,
    /// The files.
    pub resources: SkillResources,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SkillResources {
    /// The complete list.
    Listed(Vec<SkillFileEntry>),
    /// The files are created on demand and have no digests.
    Dynamic(DynamicMarker),
}

/// The value for files without digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DynamicMarker {
    /// `"dynamic"`.
    #[serde(rename = "dynamic")]
    Dynamic,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFileEntry {
    /// The URI.
    pub uri: String,
    /// `sha256:` and the digest of the contents.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
}

/// The parameters of `skills/list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListSkillsParams {
    /// The cursor from the previous result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The parameters of `skills/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSkillParams {
    /// The URI of the skill's `SKILL.md`.
    pub uri: String,
}

/// The parameters of `resources/directory/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDirectoryParams {
    /// The URI of the directory.
    pub uri: String,
    /// The cursor from the previous result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The result of `skills/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListSkillsResult {
    /// Always `complete`.
    #[serde(default)]
    pub result_type: ResultType,
    /// The skills on this page.
    pub skills: Vec<SkillEntry>,
    /// The cursor of the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long the result may be cached, in milliseconds.
    #[serde(default)]
    pub ttl_ms: u64,
    /// Who may cache the result.
    #[serde(default)]
    pub cache_scope: CacheScope,
}

/// The result of `skills/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetSkillResult {
    /// Always `complete`.
    #[serde(default)]
    pub result_type: ResultType,
    /// The skill.
    pub skill: SkillEntry,
    /// How long the result may be cached, in milliseconds.
    #[serde(default)]
    pub ttl_ms: u64,
    /// Who may cache the result.
    #[serde(default)]
    pub cache_scope: CacheScope,
}

/// The type of a complete result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ResultType {
    /// `"complete"`.
    #[default]
    #[serde(rename = "complete")]
    Complete,
}

/// Who may cache a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Only the client.
    #[default]
    Private,
    /// Any intermediary.
    Public,
}
