//! The MCP servers of a plugin: `mcp.json` of Agent Plugins, and the formats of clients.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use prowess_format::Code;
use prowess_format::hidden::escape_and_truncate;

use super::json::{JsonFile, Parsed, key_span, span};
use super::limits::SERVERS_MAX;
use super::schema::{MCP_SCHEMA, PluginFormat, check_schema};
use super::server_rules;

/// An MCP server of a plugin. All texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The name in the plugin.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program on standard input and output.
    Stdio(StdioServer),
    /// A server over HTTP.
    Http(RemoteServer),
    /// A server over the deprecated transport with server-sent events.
    Sse(RemoteServer),
}

/// A server that a client starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StdioServer {
    /// The program: a name, or a path that begins with `./`.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// The environment variables.
    pub env: Vec<(String, String)>,
    /// The working directory; the root of the plugin if `None`.
    pub cwd: Option<String>,
}

/// A server at a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteServer {
    /// The URL.
    pub url: String,
    /// The headers to send.
    pub headers: Vec<(String, String)>,
}

impl McpServer {
    /// Returns the command line or the URL, as written in the plugin.
    pub fn describe(&self) -> String {
        match &self.transport {
            McpTransport::Stdio(server) => {
                let words = std::iter::once(&server.command).chain(&server.args);
                words.map(|word| prowess::shell::quote(word).into_owned()).collect::<Vec<_>>().join(" ")
            }
            McpTransport::Http(server) | McpTransport::Sse(server) => server.url.clone(),
        }
    }
}

impl McpServer {
    /// Returns the environment variables of a program; none for a server at a URL.
    pub fn env(&self) -> &[(String, String)] {
        match &self.transport {
            McpTransport::Stdio(server) => &server.env,
            McpTransport::Http(_) | McpTransport::Sse(_) => &[],
        }
    }
}

/// Parses a file with servers. The value is `None` if the file is rejected as a whole; invalid servers are reported
/// and left out.
pub fn parse_mcp_config(bytes: &[u8], format: PluginFormat) -> Parsed<Vec<McpServer>> {
    let (mut file, object) = JsonFile::parse(bytes);
    let value = object.and_then(|object| match format {
        PluginFormat::AgentPlugins => read_standard(&mut file, &object),
        PluginFormat::Client => read_client(&mut file, &object),
    });
    Parsed { value, diagnostics: file.finish() }
}

/// Reads `mcp.json` of section 7.2.1 of the specification.
fn read_standard(file: &mut JsonFile<'_>, object: &Object<'_>) -> Option<Vec<McpServer>> {
    if !check_schema(file, object, MCP_SCHEMA) || !file.reject_duplicates(object, Code::PluginField) {
        return None;
    }
    let mut is_valid = true;
    for member in object.properties.iter().filter(|member| !is_one_of(member, &["$schema", "mcpServers"])) {
        let message = format!("unknown field {}", escape_and_truncate(member.name.as_str()));
        file.error(Code::PluginField, key_span(member), message, "mcp.json has only $schema and mcpServers");
        is_valid = false;
    }
    let servers = match object.get("mcpServers").map(|member| &member.value) {
        Some(Value::Object(servers)) => servers,
        other => {
            let span = other.map_or((0, 1), span);
            let help = "add it: \"mcpServers\": {}";
            file.error(Code::PluginField, span, "mcpServers is missing or not an object", help);
            return None;
        }
    };
    is_valid.then(|| read_servers(file, servers, PluginFormat::AgentPlugins))
}

/// Reads the file of a client: the servers, or an object with the servers in `mcpServers`.
fn read_client(file: &mut JsonFile<'_>, object: &Object<'_>) -> Option<Vec<McpServer>> {
    let servers = match object.get("mcpServers").map(|member| &member.value) {
        None => object,
        Some(Value::Object(servers)) => servers,
        Some(other) => {
            let help = "write {\"mcpServers\": {…}}";
            file.error(Code::PluginField, span(other), "mcpServers is not an object", help);
            return None;
        }
    };
    Some(read_servers(file, servers, PluginFormat::Client))
}

/// Reads an object of servers.
pub(super) fn read_servers(
    file: &mut JsonFile<'_>,
    servers: &Object<'_>,
    format: PluginFormat,
) -> Vec<McpServer> {
    file.reject_duplicates(servers, Code::PluginServer);
    if let Some(member) = servers.properties.get(SERVERS_MAX) {
        let message = format!("there are more than {SERVERS_MAX} servers; the others are ignored");
        file.error(Code::PluginLimit, key_span(member), message, "remove what is not needed");
    }
    let mut read: Vec<McpServer> = Vec::new();
    for member in servers.properties.iter().take(SERVERS_MAX) {
        let name = member.name.as_str();
        // A duplicate was reported above.
        if read.iter().any(|server| server.name == name) {
            continue;
        }
        let transport = match &member.value {
            Value::Object(server) => read_server(file, name, server, member, format),
            other => {
                let message = format!("server {} is not an object", escape_and_truncate(name));
                file.error(Code::PluginServer, span(other), message, "write {\"type\": …}");
                None
            }
        };
        read.extend(transport.map(|transport| McpServer { name: name.to_owned(), transport }));
    }
    read
}

fn read_server(
    file: &mut JsonFile<'_>,
    name: &str,
    server: &Object<'_>,
    member: &ObjectProp<'_>,
    format: PluginFormat,
) -> Option<McpTransport> {
    let name = escape_and_truncate(name);
    if !file.reject_duplicates(server, Code::PluginServer) {
        return None;
    }
    let invalid =
        |file: &mut JsonFile<'_>, at: (usize, usize), problem: String, help: &str| -> Option<McpTransport> {
            file.error(Code::PluginServer, at, format!("server {name}: {problem}"), help);
            None
        };
    let kind = match server.get("type") {
        Some(kind) => file.text(Code::PluginServer, kind)?,
        None if format == PluginFormat::AgentPlugins => {
            let help = "add \"type\": \"stdio\" or \"type\": \"streamable-http\"";
            return invalid(file, key_span(member), "type is missing".to_owned(), help);
        }
        None if server.get("url").is_some() => "http".to_owned(),
        None => "stdio".to_owned(),
    };
    let remote = match (kind.as_str(), format) {
        ("stdio", _) => None,
        ("streamable-http", _) | ("http", PluginFormat::Client) => {
            Some(McpTransport::Http as fn(RemoteServer) -> McpTransport)
        }
        ("sse", _) => Some(McpTransport::Sse as fn(RemoteServer) -> McpTransport),
        (other, _) => {
            let at = server.get("type").map_or(key_span(member), |kind| span(&kind.value));
            let problem = format!("unknown type {}", escape_and_truncate(other));
            return invalid(file, at, problem, "use stdio, streamable-http or sse");
        }
    };
    let known: &[&str] = match remote {
        None => &["type", "command", "args", "env", "cwd"],
        Some(_) => &["type", "url", "headers"],
    };
    let unknown = server.properties.iter().find(|member| !is_one_of(member, known));
    // Clients add fields of their own to servers, such as time limits.
    if let Some(unknown) = unknown.filter(|_| format == PluginFormat::AgentPlugins) {
        let problem = format!("unknown field {}", escape_and_truncate(unknown.name.as_str()));
        let help = format!("a server of type {kind} has only {}", known.join(", "));
        return invalid(file, key_span(unknown), problem, &help);
    }
    let Some(required) = server.get(if remote.is_none() { "command" } else { "url" }) else {
        let problem = format!("{} is missing", if remote.is_none() { "command" } else { "url" });
        return invalid(file, key_span(member), problem, "add it");
    };
    let required_text = file.text(Code::PluginServer, required)?;
    let (transport, problem) = match remote {
        None => {
            let args = server.get("args").map(|args| file.texts(Code::PluginServer, args));
            let env = server.get("env").map(|env| file.text_map(Code::PluginServer, env));
            let cwd = server.get("cwd").map(|cwd| file.text(Code::PluginServer, cwd));
            let (args, env) = (args.unwrap_or(Some(Vec::new()))?, env.unwrap_or(Some(Vec::new()))?);
            let stdio = StdioServer {
                command: required_text,
                args,
                env,
                cwd: cwd.map_or(Some(None), |cwd| cwd.map(Some))?,
            };
            let problem = server_rules::check_stdio(&stdio, format);
            (McpTransport::Stdio(stdio), problem)
        }
        Some(transport) => {
            let headers = server.get("headers").map(|headers| file.text_map(Code::PluginServer, headers));
            let remote = RemoteServer { url: required_text, headers: headers.unwrap_or(Some(Vec::new()))? };
            let problem = server_rules::check_remote(&remote);
            (transport(remote), problem)
        }
    };
    match problem {
        Ok(()) => Some(transport),
        Err(problem) => {
            let at = server.get(problem.field()).map_or(key_span(member), |member| span(&member.value));
            invalid(file, at, problem.to_string(), problem.help())
        }
    }
}

fn is_one_of(member: &ObjectProp<'_>, names: &[&str]) -> bool {
    names.contains(&member.name.as_str())
}
