//! The skills extension of the protocol, `io.modelcontextprotocol/skills`: what goes over the wire, and nothing else.
//!
//! The SDK has no types for it yet. When it does, this module goes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the extension is called in capabilities.
pub const ID: &str = "io.modelcontextprotocol/skills";

/// Lists the skills of a server.
pub const LIST: &str = "skills/list";

/// Gets the entry of one skill.
pub const GET: &str = "skills/get";

/// Lists the direct children of a folder.
pub const DIRECTORY_READ: &str = "resources/directory/read";

/// The media type of a folder.
pub const DIRECTORY: &str = "inode/directory";

/// The most files of a skill that every host takes.
pub const FILES_MAX: usize = 512;

/// The most bytes of a skill that every host takes.
pub const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a server that has the extension says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Whether folders can be listed.
    pub directory_read: bool,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// Where its `SKILL.md` is.
    pub uri: String,
    /// The frontmatter as its author wrote it.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub resources: Resources,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Resources {
    /// All of them.
    Listed(Vec<SkillFile>),
    /// They are made on demand and have no digests.
    Dynamic(Dynamic),
}

/// The word for files that have no digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dynamic {
    /// `"dynamic"`.
    #[serde(rename = "dynamic")]
    Dynamic,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFile {
    /// Where it is.
    pub uri: String,
    /// `sha256:` and the digest of its bytes.
    pub digest: String,
    /// How many bytes.
    pub size: u64,
}

/// What `skills/list` takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListParams {
    /// Where to go on, from the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What `skills/get` takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetParams {
    /// Where the skill's `SKILL.md` is.
    pub uri: String,
}

/// What `resources/directory/read` takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryParams {
    /// Where the folder is.
    pub uri: String,
    /// Where to go on, from the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What `skills/list` gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResult {
    /// Always `complete`.
    #[serde(default)]
    pub result_type: Complete,
    /// The skills of this page.
    pub skills: Vec<Skill>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// For how many milliseconds this may be kept.
    #[serde(default)]
    pub ttl_ms: u64,
    /// Who may keep it.
    #[serde(default)]
    pub cache_scope: CacheScope,
}

/// What `skills/get` gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetResult {
    /// Always `complete`.
    #[serde(default)]
    pub result_type: Complete,
    /// The skill.
    pub skill: Skill,
    /// For how many milliseconds this may be kept.
    #[serde(default)]
    pub ttl_ms: u64,
    /// Who may keep it.
    #[serde(default)]
    pub cache_scope: CacheScope,
}

/// The kind of a result that is all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Complete {
    /// `"complete"`.
    #[default]
    #[serde(rename = "complete")]
    Complete,
}

/// Who may keep an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Whoever asked.
    #[default]
    Private,
    /// Anybody in between.
    Public,
}
