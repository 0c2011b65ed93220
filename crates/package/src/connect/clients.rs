//! The supported MCP clients. `docs/mcp.md` lists the source of each fact.

use prowess_format::suggest;

use super::ConnectError;
use crate::client_path::BaseDir::{AppData, Config, Home, Variable};
use crate::client_path::{ClientPath, path_in};
use prowess_config::edit::entry::ConfigFormat;

/// A program that speaks MCP, and how to register a server with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The name on the command line.
    pub id: &'static str,
    /// The product name.
    pub title: &'static str,
    /// The format of its configuration.
    pub format: ConfigFormat,
    /// The section that contains the servers.
    pub section: &'static str,
    /// The user's files. Any of them may exist; the first one is created if none does.
    pub(super) user: &'static [ClientPath],
    /// The project's files, relative to the project; empty if the client has none.
    pub(super) project: &'static [&'static str],
    /// Files and directories that show that the client is installed.
    pub(super) traces: &'static [ClientPath],
    /// The names of its programs on `PATH`.
    pub(super) programs: &'static [&'static str],
    /// From where it is launched.
    pub launched_from: LaunchedFrom,
    pub(super) entry_format: EntryFormat,
    pub(super) token_reference: TokenReference,
}

/// From where a client is launched, which determines its `PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchedFrom {
    /// A shell, with the user's `PATH`.
    Terminal,
    /// The desktop, often with a different `PATH`.
    Desktop,
}

/// The fields of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryFormat {
    /// `type`, `command`, `args`; `type`, `url`, `headers`.
    Typed,
    /// `command`, `args`; `url`, `headers`.
    Plain,
    /// `command`, `args`; no HTTP.
    StdioOnly,
    /// `command`, `args`; `httpUrl`, `headers`.
    Gemini,
    /// `type`, `command` as a list, `enabled`; `type`, `url`, `headers`, `enabled`.
    Opencode,
    /// `command`, `args`; `url`, `bearer_token_env_var`.
    Codex,
    /// An extension of goose.
    Goose,
}

/// How an entry refers to a token without containing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenReference {
    /// Not supported.
    Unsupported,
    /// In a header, with `NAME` as the placeholder for the variable.
    Header(&'static str),
    /// In a field that contains the name of the variable.
    Field(&'static str),
}

/// All clients, sorted by name.
pub static CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        title: "Claude Code",
        format: ConfigFormat::Json,
        section: "mcpServers",
        user: &[path_in(Variable("CLAUDE_CONFIG_DIR", ""), ".claude.json")],
        project: &[".mcp.json"],
        traces: &[path_in(Variable("CLAUDE_CONFIG_DIR", ""), ".claude.json"), path_in(Home, ".claude")],
        programs: &["claude"],
        launched_from: LaunchedFrom::Terminal,
        entry_format: EntryFormat::Typed,
        token_reference: TokenReference::Header("Bearer ${NAME}"),
    },
    Client {
        id: "claude-desktop",
        title: "Claude Desktop",
        format: ConfigFormat::Json,
        section: "mcpServers",
        user: &[path_in(AppData, "Claude/claude_desktop_config.json")],
        project: &[],
        traces: &[path_in(AppData, "Claude")],
        programs: &["claude-desktop"],
        launched_from: LaunchedFrom::Desktop,
        entry_format: EntryFormat::StdioOnly,
        token_reference: TokenReference::Unsupported,
    },
    Client {
        id: "codex",
        title: "Codex",
        format: ConfigFormat::Toml,
        section: "mcp_servers",
        user: &[path_in(Variable("CODEX_HOME", ".codex"), "config.toml")],
        project: &[".codex/config.toml"],
        traces: &[path_in(Variable("CODEX_HOME", ".codex"), "")],
        programs: &["codex"],
        launched_from: LaunchedFrom::Terminal,
        entry_format: EntryFormat::Codex,
        token_reference: TokenReference::Field("bearer_token_env_var"),
    },
    Client {
        id: "cursor",
        title: "Cursor",
        format: ConfigFormat::Json,
        section: "mcpServers",
        user: &[path_in(Home, ".cursor/mcp.json")],
        project: &[".cursor/mcp.json"],
        traces: &[path_in(Home, ".cursor")],
        programs: &["cursor", "cursor-agent"],
        launched_from: LaunchedFrom::Desktop,
        entry_format: EntryFormat::Plain,
        token_reference: TokenReference::Header("Bearer ${env:NAME}"),
    },
    Client {
        id: "gemini",
        title: "Gemini CLI",
        format: ConfigFormat::Json,
        section: "mcpServers",
        user: &[path_in(Variable("GEMINI_CLI_HOME", ""), ".gemini/settings.json")],
        project: &[".gemini/settings.json"],
        traces: &[path_in(Variable("GEMINI_CLI_HOME", ""), ".gemini")],
        programs: &["gemini"],
        launched_from: LaunchedFrom::Terminal,
        entry_format: EntryFormat::Gemini,
        token_reference: TokenReference::Header("Bearer ${NAME}"),
    },
    Client {
        id: "goose",
        title: "goose",
        format: ConfigFormat::Yaml,
        section: "extensions",
        user: &[path_in(Config, "goose/config.yaml")],
        project: &[],
        traces: &[path_in(Config, "goose")],
        programs: &["goose"],
        launched_from: LaunchedFrom::Terminal,
        entry_format: EntryFormat::Goose,
        token_reference: TokenReference::Header("Bearer ${NAME}"),
    },
    Client {
        id: "opencode",
        title: "opencode",
        format: ConfigFormat::Json,
        section: "mcp",
        user: &[path_in(Config, "opencode/opencode.json"), path_in(Config, "opencode/opencode.jsonc")],
        project: &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
        traces: &[path_in(Config, "opencode")],
        programs: &["opencode"],
        launched_from: LaunchedFrom::Terminal,
        entry_format: EntryFormat::Opencode,
        token_reference: TokenReference::Header("Bearer {env:NAME}"),
    },
    Client {
        id: "vscode",
        title: "VS Code",
        format: ConfigFormat::Json,
        section: "servers",
        user: &[path_in(AppData, "Code/User/mcp.json")],
        project: &[".vscode/mcp.json"],
        traces: &[path_in(AppData, "Code")],
        programs: &["code"],
        launched_from: LaunchedFrom::Desktop,
        entry_format: EntryFormat::Typed,
        token_reference: TokenReference::Header("Bearer ${env:NAME}"),
    },
    Client {
        id: "zed",
        title: "Zed",
        format: ConfigFormat::Json,
        section: "context_servers",
        user: &[path_in(Config, "zed/settings.json")],
        project: &[".zed/settings.json"],
        traces: &[path_in(Config, "zed")],
        programs: &["zed", "zeditor"],
        launched_from: LaunchedFrom::Desktop,
        entry_format: EntryFormat::Plain,
        token_reference: TokenReference::Unsupported,
    },
];

/// Returns the client with this name.
///
/// ```
/// use prowess_package::connect::find_client;
///
/// assert_eq!(find_client("codex").unwrap().section, "mcp_servers");
/// assert_eq!(find_client("curser").unwrap_err().to_string(), "unknown client curser");
/// ```
pub fn find_client(name: &str) -> Result<&'static Client, ConnectError> {
    CLIENTS.iter().find(|client| client.id == name).ok_or_else(|| ConnectError::UnknownClient {
        name: name.to_owned(),
        suggestion: suggest::nearest(name, CLIENTS.iter().map(|client| client.id)),
    })
}
