//! Response schemas for the OpenAPI description. `prowess_tools::json` builds the responses, as for the command line; tests
//! compare the two.

#![allow(dead_code, reason = "used only for the OpenAPI description")]

use serde_json::Value;
use utoipa::ToSchema;

/// An entry of the list of skills.
#[derive(ToSchema)]
#[schema(as = SkillEntry)]
pub(crate) struct SkillEntryJson {
    /// The directory name.
    id: String,
    /// The name.
    name: String,
    /// What the skill does and when to use it.
    description: String,
    /// `mcp`, `bundled`, `user`, `project` or `plugin`.
    scope: String,
    /// The skill directory it was discovered in.
    source: String,
    /// The path of its `SKILL.md`.
    location: String,
    /// `enabled`, `disabled`, `unavailable`, `untrusted`, `modified`, `shadowed` or `invalid`.
    status: String,
    /// Why it is not available; null if it is.
    reason: Option<String>,
    /// The size of its `SKILL.md`.
    bytes: u64,
    /// `command` for a custom command of another agent; absent for a skill.
    kind: Option<String>,
    /// `true` for a bundled example, which models are not offered; absent for other skills.
    example: Option<bool>,
    /// A hint about its arguments; absent if there is none.
    argument_hint: Option<String>,
    /// The names of its arguments; absent if there are none.
    arguments: Option<Vec<String>>,
}

/// A diagnostic about a file.
#[derive(ToSchema)]
#[schema(as = DiagnosticEntry)]
pub(crate) struct DiagnosticEntryJson {
    /// The code, such as `SK001`.
    code: String,
    /// `error`, `warning` or `note`.
    severity: String,
    /// A description for people.
    message: String,
    /// The file.
    path: String,
    /// The line, starting at 1.
    line: Option<u32>,
    /// The column, starting at 1.
    column: Option<u32>,
    /// How to fix it.
    help: Option<String>,
}

/// The list of skills.
#[derive(ToSchema)]
#[schema(as = Skills)]
pub(crate) struct SkillsResponse {
    schema: u32,
    skills: Vec<SkillEntryJson>,
    diagnostics: Vec<DiagnosticEntryJson>,
}

/// The details of a skill.
#[derive(ToSchema)]
#[schema(as = Skill)]
pub(crate) struct SkillResponse {
    schema: u32,
    skill: SkillEntryJson,
    /// The parsed fields of its frontmatter; null if it does not load.
    fields: Option<Value>,
    files: Vec<FileEntryJson>,
    /// Whether the list of files is incomplete.
    files_cut: bool,
    /// Symlinks and special files, which are never read.
    files_refused: Vec<String>,
    /// Its size in tokens.
    tokens: Value,
    /// The digest of its `SKILL.md`, to send with a change.
    digest: Option<String>,
    /// The hash of all its files.
    tree_hash: Option<String>,
    /// Its entry in the lock file; null if it was not installed.
    installed: Option<Value>,
    /// Whether it can be edited through this API.
    editable: bool,
    /// Why it cannot be edited; null if it can.
    not_editable_because: Option<String>,
    diagnostics: Vec<DiagnosticEntryJson>,
}

/// A file of a skill.
#[derive(ToSchema)]
#[schema(as = FileEntry)]
pub(crate) struct FileEntryJson {
    /// The path relative to the skill directory.
    path: String,
    /// The size.
    bytes: u64,
    /// Whether it is executable.
    executable: bool,
}

/// The content of a file.
#[derive(ToSchema)]
#[schema(as = FileRead)]
pub(crate) struct FileContentResponse {
    schema: u32,
    /// The name of the skill.
    name: String,
    /// The path of the file.
    path: String,
    /// The text, or its beginning.
    content: String,
    /// Whether the text is truncated.
    truncated: bool,
    /// The size of the file.
    bytes: u64,
    /// The digest of the file, to send with a change. Null if the text is truncated.
    digest: Option<String>,
}

/// The skills that match a message.
#[derive(ToSchema)]
#[schema(as = Matches)]
pub(crate) struct MatchesResponse {
    schema: u32,
    query: String,
    /// How much the prompt discloses about skills: 0 nothing, 1 that they exist, 2 names and short descriptions, 3 instructions.
    tier: u8,
    matches: Vec<MatchJson>,
}

/// A skill that matches.
#[derive(ToSchema)]
#[schema(as = Match)]
pub(crate) struct MatchJson {
    name: String,
    score: f64,
    reasons: Vec<String>,
}

/// The text about skills that a model receives.
#[derive(ToSchema)]
#[schema(as = Prompt)]
pub(crate) struct PromptResponse {
    schema: u32,
    text: String,
    chars: u64,
    tokens: u64,
    /// The token encoding.
    encoding: String,
    /// The number of skills.
    skills: u64,
    /// Skills whose entry was shortened or omitted.
    cut: Vec<Value>,
    /// The disclosure tier, if there was a query.
    tier: Option<u8>,
    /// The names in the prompt.
    entries: Vec<String>,
}

/// The result of enabling or disabling a skill.
#[derive(ToSchema)]
#[schema(as = Switched)]
pub(crate) struct SwitchResponse {
    schema: u32,
    name: String,
    /// `enabled` or `disabled`.
    wanted: String,
    /// The new status.
    status: Option<String>,
    /// Why it is not available, if it is not.
    reason: Option<String>,
    /// The changed files.
    changed: Vec<String>,
    in_the_way: Option<String>,
}

/// The effective settings.
#[derive(ToSchema)]
#[schema(as = Settings)]
pub(crate) struct SettingsResponse {
    schema: u32,
    settings: Vec<SettingJson>,
    /// The configuration files, in increasing precedence.
    files: Vec<Value>,
    diagnostics: Vec<DiagnosticEntryJson>,
}

/// A setting.
#[derive(ToSchema)]
#[schema(as = Setting)]
pub(crate) struct SettingJson {
    key: String,
    /// The value, as in a configuration file.
    value: Option<Value>,
    /// The origin of the value.
    origin: String,
    /// Whether it can only be changed by editing the file.
    by_hand: bool,
}
