//! The clients, and what each of them requires of a skill.

use std::str::FromStr;

use super::instructions::InstructionsShown;
use crate::suggest::nearest;

crate::named_enum! {
    /// A client that reads skills. `install --agent` uses the same names.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Client {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        GeminiCli = "gemini-cli",
        /// opencode.
        Opencode = "opencode",
        /// Qwen Code.
        QwenCode = "qwen-code",
        /// GitHub Copilot CLI.
        GithubCopilot = "github-copilot",
        /// Copilot in Visual Studio Code.
        Vscode = "vscode",
        /// Factory droid.
        Droid = "droid",
        /// Crush.
        Crush = "crush",
        /// Roo Code.
        Roo = "roo",
        /// Cline.
        Cline = "cline",
        /// goose.
        Goose = "goose",
        /// Cursor.
        Cursor = "cursor",
        /// OpenClaw.
        OpenClaw = "openclaw",
        /// Hermes Agent.
        Hermes = "hermes-agent",
        /// Windsurf.
        Windsurf = "windsurf",
    }
}

/// How a fact about a client is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Seen in a run of this version.
    Run(&'static str),
    /// Read in the source code.
    Source,
    /// Read in the documentation.
    Documentation,
}

/// What a client does if the name is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFallback {
    /// It uses the name of the directory.
    Directory,
    /// It does not load the skill.
    Refused,
    /// Not known.
    Unknown,
}

/// Which names a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameCharacters {
    /// Any text.
    Any,
    /// Any text, but the skill is called by the name of its directory.
    DirectoryCounts,
    /// Letters, digits, `_`, `:`, `.` and `-`.
    QwenCode,
    /// ASCII letters and digits, with single inner hyphens.
    AsciiHyphens,
    /// The rule of the specification.
    Specification,
}

/// How a client compares the name with the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderRule {
    /// It does not.
    None,
    /// They must be equal, ignoring case.
    IgnoringCase,
    /// They must be equal.
    Equal,
}

/// What a client does with long descriptions. Lengths are in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptionLimit {
    /// It shows them whole, or it is not known.
    None,
    /// It shows only the beginning.
    Cut(usize),
    /// It does not load the skill.
    Refused(usize),
}

/// The type that a client requires of an optional field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    /// Text; a number is not text.
    Text,
    /// Text or a list of texts.
    TextOrList,
    /// A list of texts.
    List,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A mapping.
    Map,
    /// A mapping of texts to texts.
    TextMap,
}

/// What a client requires of a skill. What is not known is permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientRules {
    /// How these facts are known.
    pub evidence: Evidence,
    /// What happens without a name.
    pub missing_name: NameFallback,
    /// Which names are accepted.
    pub name: NameCharacters,
    /// The maximum length of a name, in characters.
    pub name_max: Option<usize>,
    /// Whether a number is refused as a name.
    pub name_must_be_text: bool,
    /// Whether the name must match the directory.
    pub folder: FolderRule,
    /// Whether a skill without a description is refused or not offered.
    pub description_required: bool,
    /// Whether a description that is a list is refused.
    pub description_must_be_text: bool,
    /// What happens to long descriptions.
    pub description_limit: DescriptionLimit,
    /// Whether frontmatter is required.
    pub frontmatter_required: bool,
    /// Whether a byte-order mark makes it miss the frontmatter.
    pub refuses_byte_order_mark: bool,
    /// Whether values that lack required quotes are refused.
    pub refuses_unquoted_values: bool,
    /// How deep below a skills directory it searches; `None` if that is not known.
    pub depth: Option<usize>,
    /// The optional fields whose type it checks; a skill with another type is refused.
    pub field_types: &'static [(&'static str, FieldType)],
    /// How much its model sees of the instructions of an MCP server, in the newest known version.
    pub instructions: InstructionsShown,
}

/// The rules of a client about which nothing is known.
const UNKNOWN: ClientRules = ClientRules {
    evidence: Evidence::Documentation,
    missing_name: NameFallback::Unknown,
    name: NameCharacters::Any,
    name_max: None,
    name_must_be_text: false,
    folder: FolderRule::None,
    description_required: false,
    description_must_be_text: false,
    description_limit: DescriptionLimit::None,
    frontmatter_required: false,
    refuses_byte_order_mark: false,
    refuses_unquoted_values: false,
    depth: None,
    field_types: &[],
    instructions: InstructionsShown::Unknown,
};

/// The rules that most clients share.
const STRICT: ClientRules = ClientRules {
    missing_name: NameFallback::Refused,
    description_required: true,
    description_must_be_text: true,
    frontmatter_required: true,
    ..UNKNOWN
};

const CLAUDE_CODE: ClientRules = ClientRules {
    evidence: Evidence::Run("2.1.326"),
    missing_name: NameFallback::Directory,
    name: NameCharacters::DirectoryCounts,
    description_limit: DescriptionLimit::Cut(1_536),
    depth: Some(1),
    instructions: InstructionsShown::Cut(4_096),
    ..UNKNOWN
};

const CODEX: ClientRules = ClientRules {
    evidence: Evidence::Run("0.169.0"),
    missing_name: NameFallback::Directory,
    name_max: Some(64),
    description_limit: DescriptionLimit::Cut(1_024),
    refuses_byte_order_mark: true,
    depth: Some(6),
    instructions: InstructionsShown::All,
    ..STRICT
};

const GEMINI_CLI: ClientRules = ClientRules {
    evidence: Evidence::Run("0.61.0"),
    description_must_be_text: false,
    refuses_byte_order_mark: true,
    depth: Some(1),
    instructions: InstructionsShown::All,
    ..STRICT
};

const OPENCODE: ClientRules = ClientRules {
    evidence: Evidence::Run("1.18.34"),
    name_must_be_text: true,
    instructions: InstructionsShown::All,
    ..STRICT
};

const QWEN_CODE: ClientRules = ClientRules {
    evidence: Evidence::Run("0.24.4"),
    name: NameCharacters::QwenCode,
    description_must_be_text: false,
    depth: Some(1),
    field_types: &[
        ("allowedTools", FieldType::List),
        ("model", FieldType::Text),
        ("paths", FieldType::List),
        ("priority", FieldType::Number),
    ],
    instructions: InstructionsShown::All,
    ..STRICT
};

const GITHUB_COPILOT: ClientRules = ClientRules {
    evidence: Evidence::Run("1.0.102"),
    missing_name: NameFallback::Directory,
    name_max: Some(64),
    name_must_be_text: true,
    description_required: false,
    description_limit: DescriptionLimit::Refused(1_024),
    refuses_unquoted_values: true,
    instructions: InstructionsShown::None,
    ..STRICT
};

const VSCODE: ClientRules = ClientRules { folder: FolderRule::Equal, ..UNKNOWN };

const DROID: ClientRules = ClientRules {
    evidence: Evidence::Run("0.225.2"),
    name: NameCharacters::Specification,
    name_must_be_text: true,
    description_limit: DescriptionLimit::Cut(1_024),
    refuses_byte_order_mark: true,
    field_types: &[
        ("license", FieldType::Text),
        ("compatibility", FieldType::Text),
        ("metadata", FieldType::Map),
        ("allowed-tools", FieldType::TextOrList),
        ("version", FieldType::Text),
        ("tools", FieldType::TextOrList),
        ("enabled", FieldType::Boolean),
        ("user-invocable", FieldType::Boolean),
        ("disable-model-invocation", FieldType::Boolean),
    ],
    instructions: InstructionsShown::None,
    ..STRICT
};

const CRUSH: ClientRules = ClientRules {
    evidence: Evidence::Source,
    name: NameCharacters::AsciiHyphens,
    name_max: Some(64),
    folder: FolderRule::IgnoringCase,
    description_limit: DescriptionLimit::Refused(1_024),
    field_types: &[
        ("metadata", FieldType::TextMap),
        ("user-invocable", FieldType::Boolean),
        ("disable-model-invocation", FieldType::Boolean),
    ],
    instructions: InstructionsShown::All,
    ..STRICT
};

const ROO: ClientRules = ClientRules {
    evidence: Evidence::Source,
    name: NameCharacters::Specification,
    name_max: Some(64),
    folder: FolderRule::Equal,
    description_limit: DescriptionLimit::Refused(1_024),
    ..STRICT
};

const CLINE: ClientRules = ClientRules {
    evidence: Evidence::Source,
    name_must_be_text: true,
    folder: FolderRule::Equal,
    instructions: InstructionsShown::None,
    ..STRICT
};

impl Client {
    /// Returns the name for people: `Claude Code`.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::QwenCode => "Qwen Code",
            Self::GithubCopilot => "Copilot CLI",
            Self::Vscode => "VS Code",
            Self::Droid => "droid",
            Self::Crush => "Crush",
            Self::Roo => "Roo Code",
            Self::Cline => "Cline",
            Self::Goose => "goose",
            Self::Cursor => "Cursor",
            Self::OpenClaw => "OpenClaw",
            Self::Hermes => "Hermes",
            Self::Windsurf => "Windsurf",
        }
    }

    /// Returns other names that people use for it.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["claude"],
            Self::GeminiCli => &["gemini"],
            Self::QwenCode => &["qwen"],
            Self::GithubCopilot => &["copilot", "copilot-cli"],
            Self::Vscode => &["vs-code"],
            Self::Hermes => &["hermes"],
            _ => &[],
        }
    }

    /// Returns what the client requires of a skill.
    pub fn rules(self) -> &'static ClientRules {
        const GOOSE: ClientRules =
            ClientRules { evidence: Evidence::Source, instructions: InstructionsShown::All, ..UNKNOWN };
        const OPENCLAW: ClientRules =
            ClientRules { missing_name: NameFallback::Directory, depth: Some(6), ..UNKNOWN };
        const DOCUMENTED_NAME: ClientRules =
            ClientRules { name: NameCharacters::Specification, folder: FolderRule::Equal, ..UNKNOWN };
        const WINDSURF: ClientRules = ClientRules { name: NameCharacters::Specification, ..UNKNOWN };
        match self {
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::Codex => &CODEX,
            Self::GeminiCli => &GEMINI_CLI,
            Self::Opencode => &OPENCODE,
            Self::QwenCode => &QWEN_CODE,
            Self::GithubCopilot => &GITHUB_COPILOT,
            Self::Vscode => &VSCODE,
            Self::Droid => &DROID,
            Self::Crush => &CRUSH,
            Self::Roo => &ROO,
            Self::Cline => &CLINE,
            Self::Goose => &GOOSE,
            Self::Cursor => &DOCUMENTED_NAME,
            Self::OpenClaw => &OPENCLAW,
            Self::Hermes => &UNKNOWN,
            Self::Windsurf => &WINDSURF,
        }
    }

    /// Returns the clients that refuse a skill without a name.
    pub fn requiring_name() -> Vec<Self> {
        let refuses = |client: &Self| client.rules().missing_name == NameFallback::Refused;
        Self::ALL.into_iter().filter(refuses).collect()
    }
}

/// The error for a name that is not a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent {name}")]
pub struct ParseClientError {
    /// The requested name.
    pub name: String,
    /// The most similar known name.
    pub suggestion: Option<&'static str>,
}

impl FromStr for Client {
    type Err = ParseClientError;

    /// Parses a name such as `claude-code`, or a common short form such as `claude`.
    fn from_str(name: &str) -> Result<Self, ParseClientError> {
        let is_named = |client: &Self| client.as_str() == name || client.aliases().contains(&name);
        Self::ALL.into_iter().find(is_named).ok_or_else(|| ParseClientError {
            name: name.to_owned(),
            suggestion: nearest(name, Self::ALL.map(Self::as_str)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        assert_eq!("codex".parse(), Ok(Client::Codex));
        assert_eq!("claude".parse(), Ok(Client::ClaudeCode));
        let error = "claude-cod".parse::<Client>().unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.suggestion),
            ("unknown agent claude-cod", Some("claude-code"))
        );
    }
}
