//! The entry for a server, in the format of each client.

use prowess_format::Value;

use super::clients::{Client, EntryFormat, TokenReference};
use super::error::ConnectError;
use super::server::{ServerName, ServerSpec, TokenVariable, is_loopback};
use prowess_config::edit::entry;

/// The description of the goose extension.
const DESCRIPTION: &str = "Skills: finds, loads and runs them";

/// The timeout of goose in seconds (its default).
const GOOSE_TIMEOUT: &str = "300";

/// Fields that users adjust; existing values are kept.
const USER_FIELDS: [&str; 2] = ["description", "timeout"];

/// The fields of a started program and of a running server, which exclude each other.
const STDIO_FIELDS: [&str; 7] = ["command", "args", "cmd", "env", "envs", "environment", "cwd"];
const HTTP_FIELDS: [&str; 5] = ["url", "httpUrl", "uri", "headers", "bearer_token_env_var"];

/// Returns the entry for a server.
pub(super) fn build_entry(
    client: &Client,
    name: &ServerName,
    server: &ServerSpec,
) -> Result<Value, ConnectError> {
    let mut entry = EntryBuilder::default();
    match (server, client.entry_format) {
        (ServerSpec::Stdio { command, args, env }, format) => {
            let mut command_line = vec![command.clone()];
            command_line.extend(args.iter().cloned());
            match format {
                EntryFormat::Typed => entry.text("type", "stdio").text("command", command).list("args", args),
                EntryFormat::Plain | EntryFormat::StdioOnly | EntryFormat::Gemini | EntryFormat::Codex => {
                    entry.text("command", command).list("args", args)
                }
                EntryFormat::Opencode => {
                    entry.text("type", "local").list("command", &command_line).enable("enabled")
                }
                EntryFormat::Goose => entry
                    .enable("enabled")
                    .text("type", "stdio")
                    .text("name", name.as_str())
                    .text("description", DESCRIPTION)
                    .text("cmd", command)
                    .list("args", args)
                    .number("timeout", GOOSE_TIMEOUT),
            };
            let env_field = match format {
                EntryFormat::Opencode => "environment",
                EntryFormat::Goose => "envs",
                EntryFormat::Typed
                | EntryFormat::Plain
                | EntryFormat::StdioOnly
                | EntryFormat::Gemini
                | EntryFormat::Codex => "env",
            };
            if !env.is_empty() {
                let variables = env.iter().map(|(name, value)| (name.as_str().into(), text(value)));
                entry.put(env_field, Value::Map(variables.collect()));
            }
        }
        (ServerSpec::Http { .. }, EntryFormat::StdioOnly) => {
            return Err(ConnectError::HttpUnsupported { client: client.title });
        }
        (ServerSpec::Http { url, token }, format) => {
            match format {
                EntryFormat::Typed => entry.text("type", "http").text("url", url),
                EntryFormat::Gemini => entry.text("httpUrl", url),
                EntryFormat::Opencode => entry.text("type", "remote").text("url", url),
                EntryFormat::Goose => entry
                    .enable("enabled")
                    .text("type", "streamable_http")
                    .text("name", name.as_str())
                    .text("description", DESCRIPTION)
                    .text("uri", url),
                EntryFormat::Plain | EntryFormat::StdioOnly | EntryFormat::Codex => entry.text("url", url),
            };
            if let Some(token) = token {
                entry.token(client, token)?;
            }
            match format {
                EntryFormat::Opencode => entry.enable("enabled"),
                EntryFormat::Goose => entry.number("timeout", GOOSE_TIMEOUT),
                _ => &mut entry,
            };
        }
    }
    Ok(Value::Map(entry.0))
}

/// Merges the new entry into an existing one: our fields, and the fields that others added.
pub(super) fn merge_entry(existing: &Value, new: &Value, server: &ServerSpec) -> Value {
    let (Value::Map(existing), Value::Map(new)) = (existing, new) else { return new.clone() };
    let get = |entries: &[(Box<str>, Value)], key: &str| {
        entries.iter().find(|(entry_key, _)| entry_key.as_ref() == key).map(|(_, value)| value.clone())
    };
    let is_obsolete = |key: &str, value: &Value| match server {
        ServerSpec::Stdio { .. } => HTTP_FIELDS.contains(&key) || (key == "type" && *value != text("stdio")),
        ServerSpec::Http { .. } => STDIO_FIELDS.contains(&key) || key == "type",
    };
    let mut merged: Vec<(Box<str>, Value)> = Vec::new();
    for (key, value) in existing {
        let ours = get(new, key);
        match ours {
            Some(ours) if !USER_FIELDS.contains(&key.as_ref()) => merged.push((key.clone(), ours)),
            None if is_obsolete(key, value) => {}
            _ => merged.push((key.clone(), value.clone())),
        }
    }
    let missing = new.iter().filter(|(key, _)| get(existing, key).is_none());
    merged.extend(missing.cloned());
    Value::Map(merged)
}

/// Returns `true` if an entry looks like one of ours: it starts a program named `prowess`, or its URL ends in `/mcp` and
/// refers to this machine. Servers of others have the same path, so those elsewhere must have our name.
pub(super) fn is_ours(name: &ServerName, value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    let is_prowess = |path: &str| path.rsplit(['/', '\\']).next().is_some_and(|name| name == "prowess");
    let is_near = |url: &str| url::Url::parse(url).is_ok_and(|url| is_loopback(&url));
    let first = |value: &Value| match value {
        Value::Text(text) => Some(text.to_string()),
        Value::List(items) => match items.first() {
            Some(Value::Text(text)) => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    };
    entries.iter().any(|(key, value)| match (key.as_ref(), first(value)) {
        ("command" | "cmd", Some(command)) => is_prowess(&command),
        ("url" | "httpUrl" | "uri", Some(url)) => {
            url.trim_end_matches('/').ends_with("/mcp") && (name.as_str() == "prowess" || is_near(&url))
        }
        _ => false,
    })
}

/// Returns the configuration to add by hand, as a complete file.
///
/// ```
/// use prowess_package::connect::{ServerName, ServerSpec, find_client, snippet};
///
/// let (command, args) = ("prowess".to_owned(), vec!["mcp".to_owned()]);
/// let server = ServerSpec::Stdio { command, args, env: Vec::new() };
/// let text = snippet(find_client("codex").unwrap(), &ServerName::parse("prowess").unwrap(), &server).unwrap();
/// assert_eq!(text, "[mcp_servers.prowess]\ncommand = \"prowess\"\nargs = [\"mcp\"]\n");
/// ```
pub fn snippet(client: &Client, name: &ServerName, server: &ServerSpec) -> Result<String, ConnectError> {
    let value = self::build_entry(client, name, server)?;
    let path = [client.section, name.as_str()];
    entry::new_document(client.format, path, &value)
        .map_err(|source| ConnectError::Entry { path: client.id.into(), source })
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[derive(Default)]
struct EntryBuilder(Vec<(Box<str>, Value)>);

impl EntryBuilder {
    fn put(&mut self, key: &str, value: Value) -> &mut Self {
        self.0.push((key.into(), value));
        self
    }

    fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.put(key, text(value))
    }

    fn list(&mut self, key: &str, items: &[String]) -> &mut Self {
        self.put(key, Value::List(items.iter().map(|item| text(item)).collect()))
    }

    fn enable(&mut self, key: &str) -> &mut Self {
        self.put(key, Value::Bool(true))
    }

    fn number(&mut self, key: &str, number: &str) -> &mut Self {
        self.put(key, Value::Number(number.into()))
    }

    fn token(&mut self, client: &Client, token: &TokenVariable) -> Result<(), ConnectError> {
        match client.token_reference {
            TokenReference::Unsupported => {
                return Err(ConnectError::TokenUnsupported { client: client.title });
            }
            TokenReference::Field(field) => self.text(field, token.name()),
            TokenReference::Header(pattern) => {
                let header = text(&pattern.replace("NAME", token.name()));
                self.put("headers", Value::Map(vec![("Authorization".into(), header)]))
            }
        };
        // goose passes on only the listed variables.
        if client.entry_format == EntryFormat::Goose {
            self.list("env_keys", &[token.name().to_owned()]);
        }
        Ok(())
    }
}
