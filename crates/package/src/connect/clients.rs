//! The clients, as one table. `docs/mcp.md` says where each fact was found.

use prowess_format::suggest;

use super::ConnectError;
use super::machine::Base::{self, Config, Home, Own, Support};
use prowess_config::edit::entry::Form;

/// A program that speaks MCP, and how it is told of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// What it is called on the command line.
    pub id: &'static str,
    /// What it calls itself.
    pub title: &'static str,
    /// How its configuration is written.
    pub form: Form,
    /// The section that holds the servers.
    pub section: &'static str,
    /// The user's file; of several, any may be there, and the first is made.
    pub(super) user: &'static [Location],
    /// The same in a project, relative to it; none where it has no such file.
    pub(super) project: &'static [&'static str],
    /// What is there where the client is.
    pub(super) traces: &'static [Location],
    /// What it is called on `PATH`.
    pub(super) programs: &'static [&'static str],
    /// Who starts it.
    pub started: Started,
    pub(super) shape: Shape,
    pub(super) token: TokenBy,
}

/// A file or folder of the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) base: Base,
    pub(super) path: &'static str,
}

/// Who starts a client, which decides what it finds on `PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// A shell, with the user's `PATH`.
    InTerminal,
    /// The desktop, often with another one.
    OnDesktop,
}

/// How an entry is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `type`, `command`, `args`; `type`, `url`, `headers`.
    Typed,
    /// `command`, `args`; `url`, `headers`.
    Plain,
    /// `command`, `args`; nothing over HTTP.
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

/// How a token is named without being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenBy {
    /// It cannot be.
    Nothing,
    /// As a header, with `NAME` for the variable.
    Header(&'static str),
    /// By a field that takes the name of the variable.
    Field(&'static str),
}

const fn at(base: Base, path: &'static str) -> Location {
    Location { base, path }
}

/// All clients, by name.
pub static CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        title: "Claude Code",
        form: Form::Json,
        section: "mcpServers",
        user: &[at(Own("CLAUDE_CONFIG_DIR", ""), ".claude.json")],
        project: &[".mcp.json"],
        traces: &[at(Own("CLAUDE_CONFIG_DIR", ""), ".claude.json"), at(Home, ".claude")],
        programs: &["claude"],
        started: Started::InTerminal,
        shape: Shape::Typed,
        token: TokenBy::Header("Bearer ${NAME}"),
    },
    Client {
        id: "claude-desktop",
        title: "Claude Desktop",
        form: Form::Json,
        section: "mcpServers",
        user: &[at(Support, "Claude/claude_desktop_config.json")],
        project: &[],
        traces: &[at(Support, "Claude")],
        programs: &["claude-desktop"],
        started: Started::OnDesktop,
        shape: Shape::StdioOnly,
        token: TokenBy::Nothing,
    },
    Client {
        id: "codex",
        title: "Codex",
        form: Form::Toml,
        section: "mcp_servers",
        user: &[at(Own("CODEX_HOME", ".codex"), "config.toml")],
        project: &[".codex/config.toml"],
        traces: &[at(Own("CODEX_HOME", ".codex"), "")],
        programs: &["codex"],
        started: Started::InTerminal,
        shape: Shape::Codex,
        token: TokenBy::Field("bearer_token_env_var"),
    },
    Client {
        id: "cursor",
        title: "Cursor",
        form: Form::Json,
        section: "mcpServers",
        user: &[at(Home, ".cursor/mcp.json")],
        project: &[".cursor/mcp.json"],
        traces: &[at(Home, ".cursor")],
        programs: &["cursor", "cursor-agent"],
        started: Started::OnDesktop,
        shape: Shape::Plain,
        token: TokenBy::Header("Bearer ${env:NAME}"),
    },
    Client {
        id: "gemini",
        title: "Gemini CLI",
        form: Form::Json,
        section: "mcpServers",
        user: &[at(Own("GEMINI_CLI_HOME", ""), ".gemini/settings.json")],
        project: &[".gemini/settings.json"],
        traces: &[at(Own("GEMINI_CLI_HOME", ""), ".gemini")],
        programs: &["gemini"],
        started: Started::InTerminal,
        shape: Shape::Gemini,
        token: TokenBy::Header("Bearer ${NAME}"),
    },
    Client {
        id: "goose",
        title: "goose",
        form: Form::Yaml,
        section: "extensions",
        user: &[at(Config, "goose/config.yaml")],
        project: &[],
        traces: &[at(Config, "goose")],
        programs: &["goose"],
        started: Started::InTerminal,
        shape: Shape::Goose,
        token: TokenBy::Header("Bearer ${NAME}"),
    },
    Client {
        id: "opencode",
        title: "opencode",
        form: Form::Json,
        section: "mcp",
        user: &[at(Config, "opencode/opencode.json"), at(Config, "opencode/opencode.jsonc")],
        project: &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
        traces: &[at(Config, "opencode")],
        programs: &["opencode"],
        started: Started::InTerminal,
        shape: Shape::Opencode,
        token: TokenBy::Header("Bearer {env:NAME}"),
    },
    Client {
        id: "vscode",
        title: "VS Code",
        form: Form::Json,
        section: "servers",
        user: &[at(Support, "Code/User/mcp.json")],
        project: &[".vscode/mcp.json"],
        traces: &[at(Support, "Code")],
        programs: &["code"],
        started: Started::OnDesktop,
        shape: Shape::Typed,
        token: TokenBy::Header("Bearer ${env:NAME}"),
    },
    Client {
        id: "zed",
        title: "Zed",
        form: Form::Json,
        section: "context_servers",
        user: &[at(Config, "zed/settings.json")],
        project: &[".zed/settings.json"],
        traces: &[at(Config, "zed")],
        programs: &["zed", "zeditor"],
        started: Started::OnDesktop,
        shape: Shape::Plain,
        token: TokenBy::Nothing,
    },
];

/// The client of this name.
///
/// ```
/// use prowess_package::connect::client;
///
/// assert_eq!(client("codex").unwrap().section, "mcp_servers");
/// assert_eq!(client("curser").unwrap_err().to_string(), "there is no client named curser");
/// ```
pub fn client(name: &str) -> Result<&'static Client, ConnectError> {
    CLIENTS.iter().find(|client| client.id == name).ok_or_else(|| ConnectError::NoClient {
        name: name.to_owned(),
        near: suggest::nearest(name, CLIENTS.iter().map(|client| client.id)),
    })
}
