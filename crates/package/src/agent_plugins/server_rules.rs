//! The rules for the values of an MCP server: command, working directory, variables, URL and headers.

use std::collections::HashSet;

use prowess_format::hidden::{self, escape_and_truncate};
use url::{Host, Url};

use super::mcp::{RemoteServer, StdioServer};
use super::path::{PluginPath, PluginPathError};
use super::schema::PluginFormat;
use prowess_archive::InnerPath;

/// The variable with the root of the plugin.
pub(super) const PLUGIN_ROOT: &str = "PLUGIN_ROOT";
/// The variable with the directory for data of the plugin.
pub(super) const PLUGIN_DATA: &str = "PLUGIN_DATA";

/// Why a server is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ServerError {
    /// The command is not one program.
    #[error("command {0} is not a program name and does not begin with ./")]
    Command(String),
    /// The command is a path that leaves the plugin.
    #[error("command {0} is not inside the plugin: {1}")]
    CommandPath(String, PluginPathError),
    /// The working directory has an unknown form or leaves the plugin.
    #[error("cwd {0} is not inside the plugin")]
    Cwd(String),
    /// A variable that only the client sets.
    #[error("env sets {0}, which only the client sets")]
    ReservedVariable(&'static str),
    /// A name that is not the name of a variable.
    #[error("env has an invalid name: {0}")]
    VariableName(String),
    /// A text with NUL or another character that a program cannot receive.
    #[error("{0} contains a control or hidden character")]
    Hidden(&'static str),
    /// The URL is not allowed.
    #[error("url {0}")]
    Url(&'static str),
    /// A header is invalid.
    #[error("headers: {0}")]
    Header(&'static str),
}

impl ServerError {
    /// Returns the field that is invalid.
    pub(super) fn field(&self) -> &'static str {
        match self {
            Self::Command(_) | Self::CommandPath(..) => "command",
            Self::Cwd(_) => "cwd",
            Self::ReservedVariable(_) | Self::VariableName(_) => "env",
            Self::Hidden(field) => field,
            Self::Url(_) => "url",
            Self::Header(_) => "headers",
        }
    }

    /// Returns how to fix it.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Command(_) => "name one program, such as node or ./bin/server, and put the rest into args",
            Self::CommandPath(..) => "put the program into the plugin",
            Self::Cwd(_) => "begin it with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA}, without ..",
            Self::ReservedVariable(_) => "remove it; servers receive PLUGIN_ROOT and PLUGIN_DATA",
            Self::VariableName(_) => "use letters, digits and _",
            Self::Hidden(_) => "remove it",
            Self::Url(_) => "use https://, or http:// for localhost",
            Self::Header(_) => "use a name such as X-Tenant once, and a value of one line",
        }
    }
}

/// Checks a server that is started.
pub(super) fn check_stdio(server: &StdioServer, format: PluginFormat) -> Result<(), ServerError> {
    let has_control = |text: &str| text.contains('\0');
    for (field, mut texts) in [
        ("command", vec![server.command.as_str()]),
        ("args", server.args.iter().map(String::as_str).collect()),
        ("env", server.env.iter().map(|(_, value)| value.as_str()).collect()),
    ] {
        texts.retain(|text| has_control(text));
        if !texts.is_empty() {
            return Err(ServerError::Hidden(field));
        }
    }
    if hidden::find_hidden(&server.command).is_some() {
        return Err(ServerError::Hidden("command"));
    }
    for (name, _) in &server.env {
        if let Some(reserved) = [PLUGIN_ROOT, PLUGIN_DATA].into_iter().find(|reserved| name == reserved) {
            return Err(ServerError::ReservedVariable(reserved));
        }
        let is_allowed = |c: char| !c.is_control() && !c.is_whitespace() && c != '=';
        if name.is_empty() || !name.chars().all(is_allowed) || hidden::find_hidden(name).is_some() {
            return Err(ServerError::VariableName(escape_and_truncate(name)));
        }
    }
    match format {
        PluginFormat::AgentPlugins => {
            check_command(&server.command)?;
            server.cwd.as_deref().map_or(Ok(()), check_cwd)
        }
        // The rules of clients differ. The text is shown, and used only by a client that the user names.
        PluginFormat::Client if server.command.trim().is_empty() => {
            Err(ServerError::Command(escape_and_truncate(&server.command)))
        }
        PluginFormat::Client => Ok(()),
    }
}

/// Checks that a command is one program: a name, or a path inside the plugin.
fn check_command(command: &str) -> Result<(), ServerError> {
    let shown = || escape_and_truncate(command);
    if command.starts_with("./") {
        return match PluginPath::parse(command) {
            Ok(PluginPath::Inside(_)) if !command.ends_with('/') => Ok(()),
            Ok(_) => Err(ServerError::Command(shown())),
            Err(error) => Err(ServerError::CommandPath(shown(), error)),
        };
    }
    let is_name_char = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '@');
    let is_name =
        command.starts_with(|c: char| c.is_alphanumeric() || c == '_') && command.chars().all(is_name_char);
    if is_name { Ok(()) } else { Err(ServerError::Command(shown())) }
}

/// Checks the form of a working directory. A path from the plugin or its data must stay inside.
fn check_cwd(cwd: &str) -> Result<(), ServerError> {
    split_cwd(cwd).map(|_| ()).ok_or_else(|| ServerError::Cwd(escape_and_truncate(cwd)))
}

/// The directory that a working directory begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CwdBase {
    /// The root of the plugin.
    Root,
    /// The directory for data of the plugin.
    Data,
}

/// Splits a working directory into its base and the path below it; `None` if the form is not allowed.
pub(super) fn split_cwd(cwd: &str) -> Option<(CwdBase, Option<InnerPath>)> {
    let bases = [("${PLUGIN_ROOT}", CwdBase::Root), ("${PLUGIN_DATA}", CwdBase::Data), (".", CwdBase::Root)];
    let (base, rest) =
        bases.into_iter().find_map(|(prefix, base)| Some((base, cwd.strip_prefix(prefix)?)))?;
    if rest.is_empty() {
        // A plugin-relative path begins with `./`.
        return (cwd != ".").then_some((base, None));
    }
    match rest.strip_prefix('/')?.trim_end_matches('/') {
        "" => Some((base, None)),
        inner => InnerPath::parse(inner.as_bytes()).ok().map(|inner| (base, Some(inner))),
    }
}

/// Checks a server at a URL.
pub(super) fn check_remote(server: &RemoteServer) -> Result<(), ServerError> {
    check_url(&server.url).map_err(ServerError::Url)?;
    let mut seen = HashSet::new();
    for (name, value) in &server.headers {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(ServerError::Header("a name contains invalid characters"));
        }
        if value.chars().any(|c| c.is_control() && c != '\t') || value.trim_matches([' ', '\t']) != value {
            return Err(ServerError::Header("a value contains invalid characters"));
        }
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(ServerError::Header("a name occurs twice"));
        }
    }
    Ok(())
}

fn check_url(text: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && c != '\\';
    if !text.chars().all(is_plain) || hidden::find_hidden(text).is_some() {
        return Err("contains a space, a backslash, or a control or hidden character");
    }
    let url = Url::parse(text).map_err(|_| "is not an absolute URL")?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err("is not an http or https URL");
    }
    let is_host_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if url.domain().is_some_and(|domain| !domain.chars().all(is_host_char)) {
        return Err("has an invalid host");
    }
    let authority = text.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("contains a user or a password");
    }
    if url.fragment().is_some() {
        return Err("contains a fragment");
    }
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() == "https" || is_loopback {
        true => Ok(()),
        false => Err("is not encrypted"),
    }
}
