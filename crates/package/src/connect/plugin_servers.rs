//! MCP servers of plugins in the configuration of clients, and the record of those that the user accepted.
//!
//! Invariants: a server is added only to a client that the user named, never over another entry; only an entry that is
//! still exactly as it was added is removed; the record is in the user's state, so that no project can name entries to
//! remove.

use std::path::{Path, PathBuf};

use prowess::HostEnv;
use prowess_format::Value;
use serde::{Deserialize, Serialize};

use super::change::ConnectAction;
use super::client_env::ClientEnv;
use super::clients::{Client, find_client};
use super::entry_format::build_entry;
use super::error::ConnectError;
use super::plan::{self, ConnectPlan};
use super::server::{ServerName, ServerSpec};
use crate::agent_plugins::{McpServer, McpTransport, PluginFormat};
use crate::install_target::InstallScope;
use prowess_config::edit::EditError;
use prowess_config::edit::entry::{self, ConfigFormat};
use prowess_config::edit::file::{self, EditFileError, SymlinkPolicy};

/// The name of the record in the user's state.
const FILE_NAME: &str = "plugin-servers.json";

/// An entry that was added for a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// The lock file that the plugin is in.
    pub lock: PathBuf,
    /// The plugin.
    pub plugin: String,
    /// The client.
    pub client: String,
    /// The file of the client.
    pub file: PathBuf,
    /// The name of the entry.
    pub name: String,
    /// The digest of the entry.
    pub digest: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Records {
    schema: u32,
    servers: Vec<ServerRecord>,
}

/// A server of a plugin that is to be added to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginServerPlan {
    /// The change of the client's file.
    pub connect: ConnectPlan,
    /// The server.
    spec: ServerSpec,
    /// The digest of the entry.
    digest: String,
}

impl PluginServerPlan {
    /// Adds the entry, unless there is another one with the name by now. Earlier changes of the same file are kept.
    pub fn perform(&self, env: &ClientEnv) -> Result<(), PluginServerError> {
        let ConnectPlan { client, name, change, .. } = &self.connect;
        let plan = plan::plan_install(env, client, change.scope, name, &self.spec)?;
        if plan.change.action == ConnectAction::Replace {
            let (file, name) = (plan.change.file, name.as_str().to_owned());
            return Err(PluginServerError::Exists { file, name });
        }
        Ok(plan.change.perform(env).map_err(ConnectError::from)?)
    }

    /// Returns the record of the entry.
    pub fn record(&self, lock: &Path, plugin: &str) -> ServerRecord {
        ServerRecord {
            lock: lock.to_owned(),
            plugin: plugin.to_owned(),
            client: self.connect.client.id.to_owned(),
            file: self.connect.change.file.clone(),
            name: self.connect.name.as_str().to_owned(),
            digest: self.digest.clone(),
        }
    }
}

/// Why a server of a plugin cannot be added to a client.
#[derive(Debug, thiserror::Error)]
pub enum PluginServerError {
    /// The server needs something that an entry cannot provide.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The client has another entry with the name.
    #[error("{} already has another entry named {name}", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
    },
    /// The configuration of the client cannot be read or changed.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// Plans to add a server of a plugin to a client.
pub fn plan_plugin_server(
    env: &ClientEnv,
    client: &'static Client,
    scope: InstallScope,
    plugin: &str,
    server: &McpServer,
    format: PluginFormat,
) -> Result<PluginServerPlan, PluginServerError> {
    let spec = server_spec(server, format).map_err(PluginServerError::Unsupported)?;
    let name = entry_name(plugin, &server.name)?;
    let connect = plan::plan_install(env, client, scope, &name, &spec)?;
    if connect.change.action == ConnectAction::Replace {
        let (file, name) = (connect.change.file.clone(), name.as_str().to_owned());
        return Err(PluginServerError::Exists { file, name });
    }
    let digest = entry_digest(&name, &build_entry(client, &name, &spec)?)?;
    Ok(PluginServerPlan { connect, spec, digest })
}

/// Why a server with references to variables is not added. Clients replace them in different syntaxes, so a question could
/// not name all variables whose values the server would get.
const NEEDS_VARIABLES: &str = "it reads variables of your environment; add it by hand if you trust it";

/// Returns `true` if a client may replace a part of a text by the value of a variable, a file or a command: `$NAME`,
/// `${NAME}`, `${env:NAME}`, `$(COMMAND)`, `{env:NAME}`, `{file:PATH}`.
fn refers_to_variable(text: &str) -> bool {
    let is_reference = |rest: &str| {
        rest.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '{' | '('))
    };
    text.split('$').skip(1).any(is_reference) || text.contains("{env:") || text.contains("{file:")
}

/// Returns the entry for a server, or why there is none. The files of a plugin are not kept, so a server that needs them
/// cannot run; every program of Agent Plugins may need them.
fn server_spec(server: &McpServer, format: PluginFormat) -> Result<ServerSpec, &'static str> {
    match &server.transport {
        McpTransport::Sse(_) => Err("it uses the deprecated transport with server-sent events"),
        McpTransport::Http(remote) if !remote.headers.is_empty() => Err("it needs headers"),
        McpTransport::Http(remote) if refers_to_variable(&remote.url) => Err(NEEDS_VARIABLES),
        McpTransport::Http(remote) => Ok(ServerSpec::Http { url: remote.url.clone(), token: None }),
        McpTransport::Stdio(_) if format == PluginFormat::AgentPlugins => {
            Err("it may need files of the plugin")
        }
        McpTransport::Stdio(stdio) => {
            let values = stdio.args.iter().chain(stdio.env.iter().map(|(_, value)| value));
            let needs_plugin = |text: &String| {
                ["PLUGIN_ROOT", "PLUGIN_DATA", "${user_config"].iter().any(|mark| text.contains(mark))
            };
            if stdio.command.contains(['/', '\\', '$', '~'])
                || stdio.cwd.is_some()
                || values.clone().any(needs_plugin)
            {
                return Err("it needs files of the plugin");
            }
            if values.into_iter().any(|value| refers_to_variable(value)) {
                return Err(NEEDS_VARIABLES);
            }
            let (command, args, env) = (stdio.command.clone(), stdio.args.clone(), stdio.env.clone());
            Ok(ServerSpec::Stdio { command, args, env })
        }
    }
}

/// Returns the name of the entry: that of the plugin and of the server, within the rules of all clients.
fn entry_name(plugin: &str, server: &str) -> Result<ServerName, ConnectError> {
    let full = if plugin == server { plugin.to_owned() } else { format!("{plugin}-{server}") };
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let mut name: String = full.chars().map(allowed).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "p-");
    }
    if name.len() > ServerName::MAX {
        // Long names that begin alike stay different.
        let digest = prowess::digest(full.as_bytes());
        let suffix = digest.rsplit(':').next().and_then(|hex| hex.get(..6)).unwrap_or_default();
        name.truncate(ServerName::MAX - suffix.len() - 1);
        name = format!("{name}-{suffix}");
    }
    ServerName::parse(&name)
}

fn entry_digest(name: &ServerName, value: &Value) -> Result<String, ConnectError> {
    let text = entry::new_document(ConfigFormat::Json, ["servers", name.as_str()], value)
        .map_err(|source| ConnectError::Entry { path: FILE_NAME.into(), source })?;
    Ok(prowess::digest(text.as_bytes()))
}

/// Plans to remove an entry that was added for a plugin; `None` if it is gone or was changed.
pub fn plan_plugin_removal(
    env: &ClientEnv,
    scope: InstallScope,
    record: &ServerRecord,
) -> Result<Option<ConnectPlan>, ConnectError> {
    let (client, name) = (find_client(&record.client)?, ServerName::parse(&record.name)?);
    let connect = plan::plan_uninstall(env, client, scope, &name)?;
    let is_same = match &connect.current {
        Some((value, _)) => entry_digest(&name, value)? == record.digest,
        None => false,
    };
    Ok((is_same && connect.change.file == record.file).then_some(connect))
}

/// Records entries that are added for a plugin.
pub fn record_servers(host: &HostEnv, added: &[ServerRecord]) -> Result<(), EditFileError> {
    edit_records(host, |records| {
        records.retain(|record| !added.iter().any(|new| new.file == record.file && new.name == record.name));
        records.extend_from_slice(added);
    })
}

/// Forgets entries that were removed.
pub fn forget_servers(host: &HostEnv, removed: &[ServerRecord]) -> Result<(), EditFileError> {
    edit_records(host, |records| records.retain(|record| !removed.contains(record)))
}

/// Returns the entries that were added for a plugin.
pub fn servers_of_plugin(
    host: &HostEnv,
    lock: &Path,
    plugin: &str,
) -> Result<Vec<ServerRecord>, EditFileError> {
    let Some(path) = records_path(host) else { return Ok(Vec::new()) };
    let text = file::read_text(&path)?.unwrap_or_default();
    let records = parse(&text).map_err(|source| EditFileError::Edit { path, source })?;
    Ok(records.servers.into_iter().filter(|record| record.lock == lock && record.plugin == plugin).collect())
}

fn records_path(host: &HostEnv) -> Option<PathBuf> {
    Some(host.state_dir()?.join(FILE_NAME))
}

fn parse(text: &str) -> Result<Records, EditError> {
    if text.is_empty() {
        return Ok(Records { schema: 1, servers: Vec::new() });
    }
    serde_json::from_str(text).map_err(|error| EditError::Malformed {
        line: u32::try_from(error.line()).unwrap_or(u32::MAX),
        message: error.to_string(),
    })
}

fn edit_records(host: &HostEnv, edit: impl FnOnce(&mut Vec<ServerRecord>)) -> Result<(), EditFileError> {
    let Some(path) = records_path(host) else { return Ok(()) };
    file::edit_file(&path, SymlinkPolicy::Followed, |text| {
        let mut records = parse(text)?;
        edit(&mut records.servers);
        records.schema = 1;
        // Serialization fails only for map keys that are not text; there are none.
        Ok(serde_json::to_string_pretty(&records).unwrap_or_default() + "\n")
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_plugins::{RemoteServer, StdioServer};

    #[test]
    fn names_of_entries_follow_the_rules_of_all_clients() {
        let name = |plugin: &str, server: &str| entry_name(plugin, server).unwrap().as_str().to_owned();
        assert_eq!(name("reports", "db"), "reports-db");
        assert_eq!(name("reports", "reports"), "reports");
        assert_eq!(name("acme.tools", "a b\u{1b}"), "acme-tools-a-b-");
        assert_eq!(name("1st", "ü"), "p-1st--");
        let long = "x".repeat(60);
        assert_eq!(name(&long, "a").len(), ServerName::MAX);
        assert_ne!(name(&long, "a"), name(&long, "b"));
    }

    #[test]
    fn only_servers_without_the_files_of_the_plugin_are_added() {
        let stdio = |command: &str, args: &[&str], cwd: Option<&str>| McpServer {
            name: "x".to_owned(),
            transport: McpTransport::Stdio(StdioServer {
                command: command.to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                env: Vec::new(),
                cwd: cwd.map(str::to_owned),
            }),
        };
        let is_added = |server: &McpServer, format| server_spec(server, format).is_ok();
        assert!(is_added(&stdio("npx", &["-y", "x"], None), PluginFormat::Client));
        assert!(!is_added(&stdio("npx", &["-y", "x"], None), PluginFormat::AgentPlugins));
        for server in [
            stdio("./bin/x", &[], None),
            stdio("${CLAUDE_PLUGIN_ROOT}/x", &[], None),
            stdio("~/x", &[], None),
            stdio("bun", &["run", "${CLAUDE_PLUGIN_ROOT}"], None),
            stdio("node", &[], Some("./")),
        ] {
            assert!(!is_added(&server, PluginFormat::Client), "{server:?}");
        }
        for value in ["${ANTHROPIC_API_KEY}", "a$KEY", "$(id)", "${env:KEY}", "{env:KEY}", "{file:~/.netrc}"]
        {
            let mut server = stdio("npx", &[value], None);
            assert!(!is_added(&server, PluginFormat::Client), "{value}");
            if let McpTransport::Stdio(stdio) = &mut server.transport {
                stdio.args.clear();
                stdio.env.push(("KEY".to_owned(), value.to_owned()));
            }
            assert!(!is_added(&server, PluginFormat::Client), "{value}");
            let remote = RemoteServer { url: format!("https://example.com/?{value}"), headers: Vec::new() };
            let server = McpServer { name: "x".to_owned(), transport: McpTransport::Http(remote) };
            assert!(!is_added(&server, PluginFormat::Client), "{value}");
        }
        assert!(is_added(&stdio("npx", &["$5", "100$", "{x}"], None), PluginFormat::Client));
        let headers = vec![("Authorization".to_owned(), "Bearer x".to_owned())];
        for (headers, added) in [(Vec::new(), true), (headers, false)] {
            let remote = RemoteServer { url: "https://example.com".to_owned(), headers };
            let server = McpServer { name: "x".to_owned(), transport: McpTransport::Http(remote) };
            assert_eq!(is_added(&server, PluginFormat::AgentPlugins), added);
        }
    }
}
