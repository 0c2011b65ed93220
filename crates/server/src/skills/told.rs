//! The shapes of answers, for the description. What is sent is built by `prowess_tools::shapes`, the same as the command line
//! prints; the tests compare the two.

#![allow(dead_code, reason = "they are described, not made")]

use serde_json::Value;
use utoipa::ToSchema;

/// A skill as it is listed.
#[derive(ToSchema)]
pub(crate) struct SkillEntry {
    /// The folder's name.
    id: String,
    /// What it is called.
    name: String,
    /// What it does, and when to use it.
    description: String,
    /// `mcp`, `bundled`, `user`, `project` or `plugin`.
    scope: String,
    /// The directory that it was found in.
    source: String,
    /// Its `SKILL.md`.
    location: String,
    /// `enabled`, `disabled`, `unavailable`, `untrusted`, `modified`, `shadowed` or `invalid`.
    status: String,
    /// Why it is not offered; null where it is.
    reason: Option<String>,
    /// The size of its `SKILL.md`.
    bytes: u64,
}

/// What there is to say about a file.
#[derive(ToSchema)]
pub(crate) struct DiagnosticEntry {
    /// `SK001` and so on.
    code: String,
    /// `error`, `warning` or `note`.
    severity: String,
    /// For people.
    message: String,
    /// The file.
    path: String,
    /// The line, counted from 1.
    line: Option<u32>,
    /// The column, counted from 1.
    column: Option<u32>,
    /// What to do about it.
    help: Option<String>,
}

/// All skills.
#[derive(ToSchema)]
pub(crate) struct Skills {
    schema: u32,
    skills: Vec<SkillEntry>,
    diagnostics: Vec<DiagnosticEntry>,
}

/// Everything about one skill.
#[derive(ToSchema)]
pub(crate) struct Skill {
    schema: u32,
    skill: SkillEntry,
    /// The fields of its frontmatter, as they were understood; null where it does not load.
    fields: Option<Value>,
    files: Vec<FileEntry>,
    /// Whether there are more files than are listed.
    files_cut: bool,
    /// Links and special files, which are never read.
    files_refused: Vec<String>,
    /// What it costs a model.
    tokens: Value,
    /// The digest of its `SKILL.md`: what to send along when it is changed.
    digest: Option<String>,
    /// The hash of all its files.
    tree_hash: Option<String>,
    /// What the lock says of it; null where it was not installed.
    installed: Option<Value>,
    /// Whether it may be changed here.
    editable: bool,
    /// Why it may not be; null where it may.
    not_editable_because: Option<String>,
    diagnostics: Vec<DiagnosticEntry>,
}

/// A file of a skill.
#[derive(ToSchema)]
pub(crate) struct FileEntry {
    /// Its path in the skill's folder.
    path: String,
    /// Its size.
    bytes: u64,
    /// Whether it may be executed.
    executable: bool,
}

/// A file that was read.
#[derive(ToSchema)]
pub(crate) struct FileRead {
    schema: u32,
    /// The skill.
    name: String,
    /// The file.
    path: String,
    /// Its text, or the beginning of it.
    content: String,
    /// Whether there is more.
    truncated: bool,
    /// The size of all of it.
    bytes: u64,
    /// The digest of all of it: what to send along when it is changed. Null where it is cut.
    digest: Option<String>,
}

/// Which skills answer a message.
#[derive(ToSchema)]
pub(crate) struct Matches {
    schema: u32,
    query: String,
    /// How much a model would be told: 0 nothing, 1 that there are skills, 2 names and brief descriptions, 3 instructions.
    tier: u8,
    matches: Vec<Match>,
}

/// A skill that answers.
#[derive(ToSchema)]
pub(crate) struct Match {
    name: String,
    score: f64,
    reasons: Vec<String>,
}

/// What a model is shown of skills.
#[derive(ToSchema)]
pub(crate) struct Prompt {
    schema: u32,
    text: String,
    chars: u64,
    tokens: u64,
    /// How tokens were counted.
    encoding: String,
    /// How many skills there are.
    skills: u64,
    /// Skills of which less than everything is told.
    cut: Vec<Value>,
    /// How much is told, where there was a query.
    tier: Option<u8>,
    /// The names that are told.
    entries: Vec<String>,
}

/// What came of switching a skill.
#[derive(ToSchema)]
pub(crate) struct Switched {
    schema: u32,
    name: String,
    /// `enabled` or `disabled`.
    wanted: String,
    /// What it is now.
    status: Option<String>,
    /// Why it is not offered, where it is not.
    reason: Option<String>,
    /// The files that were changed.
    changed: Vec<String>,
    in_the_way: Option<String>,
}

/// The settings in force.
#[derive(ToSchema)]
pub(crate) struct Settings {
    schema: u32,
    settings: Vec<Setting>,
    /// The files that count, the last over the others.
    files: Vec<Value>,
    diagnostics: Vec<DiagnosticEntry>,
}

/// One of them.
#[derive(ToSchema)]
pub(crate) struct Setting {
    key: String,
    /// As a file would have it.
    value: Option<Value>,
    /// Where it came from.
    origin: String,
    /// Whether it is changed in the file by hand only.
    by_hand: bool,
}
