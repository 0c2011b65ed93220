//! How each client writes a server down.

use prowess_format::Value;

use super::clients::{Client, Shape, TokenBy};
use super::error::ConnectError;
use super::server::{Name, Server, Token};
use prowess_config::edit::entry;

/// What an extension of goose says of itself.
const DESCRIPTION: &str = "Skills: finds, loads and runs them";

/// How long goose waits for an answer, in seconds; its own default.
const GOOSE_TIMEOUT: &str = "300";

/// Fields that users tune; what is there stays.
const TUNED: [&str; 2] = ["description", "timeout"];

/// Fields of a program that is started, and of a server that runs: one makes no sense beside the other.
const OF_STDIO: [&str; 7] = ["command", "args", "cmd", "env", "envs", "environment", "cwd"];
const OF_HTTP: [&str; 5] = ["url", "httpUrl", "uri", "headers", "bearer_token_env_var"];

/// The entry for a server.
pub(super) fn entry(client: &Client, name: &Name, server: &Server) -> Result<Value, ConnectError> {
    let mut entry = Entry::default();
    match (server, client.shape) {
        (Server::Stdio { command, args }, shape) => {
            let mut all = vec![command.clone()];
            all.extend(args.iter().cloned());
            match shape {
                Shape::Typed => entry.text("type", "stdio").text("command", command).list("args", args),
                Shape::Plain | Shape::StdioOnly | Shape::Gemini | Shape::Codex => {
                    entry.text("command", command).list("args", args)
                }
                Shape::Opencode => entry.text("type", "local").list("command", &all).yes("enabled"),
                Shape::Goose => entry
                    .yes("enabled")
                    .text("type", "stdio")
                    .text("name", name.as_str())
                    .text("description", DESCRIPTION)
                    .text("cmd", command)
                    .list("args", args)
                    .number("timeout", GOOSE_TIMEOUT),
            };
        }
        (Server::Http { .. }, Shape::StdioOnly) => return Err(ConnectError::NoHttp { client: client.title }),
        (Server::Http { url, token }, shape) => {
            match shape {
                Shape::Typed => entry.text("type", "http").text("url", url),
                Shape::Gemini => entry.text("httpUrl", url),
                Shape::Opencode => entry.text("type", "remote").text("url", url),
                Shape::Goose => entry
                    .yes("enabled")
                    .text("type", "streamable_http")
                    .text("name", name.as_str())
                    .text("description", DESCRIPTION)
                    .text("uri", url),
                Shape::Plain | Shape::StdioOnly | Shape::Codex => entry.text("url", url),
            };
            if let Some(token) = token {
                entry.token(client, token)?;
            }
            match shape {
                Shape::Opencode => entry.yes("enabled"),
                Shape::Goose => entry.number("timeout", GOOSE_TIMEOUT),
                _ => &mut entry,
            };
        }
    }
    Ok(Value::Map(entry.0))
}

/// What is to be there where something is: our fields, and what others added to them.
pub(super) fn merged(present: &Value, wanted: &Value, server: &Server) -> Value {
    let (Value::Map(present), Value::Map(wanted)) = (present, wanted) else { return wanted.clone() };
    let of = |entries: &[(Box<str>, Value)], key: &str| {
        entries.iter().find(|(known, _)| known.as_ref() == key).map(|(_, value)| value.clone())
    };
    let is_foreign = |key: &str, value: &Value| match server {
        Server::Stdio { .. } => OF_HTTP.contains(&key) || (key == "type" && *value != text("stdio")),
        Server::Http { .. } => OF_STDIO.contains(&key) || key == "type",
    };
    let mut merged: Vec<(Box<str>, Value)> = Vec::new();
    for (key, value) in present {
        let ours = of(wanted, key);
        match ours {
            Some(ours) if !TUNED.contains(&key.as_ref()) => merged.push((key.clone(), ours)),
            None if is_foreign(key, value) => {}
            _ => merged.push((key.clone(), value.clone())),
        }
    }
    let missing = wanted.iter().filter(|(key, _)| of(present, key).is_none());
    merged.extend(missing.cloned());
    Value::Map(merged)
}

/// Whether an entry looks like one of ours: it starts a program named `prowess`, or leads to a `/mcp`.
pub(super) fn is_ours(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    let named = |path: &str| path.rsplit(['/', '\\']).next().is_some_and(|name| name == "prowess");
    let first = |value: &Value| match value {
        Value::Text(text) => Some(text.to_string()),
        Value::List(items) => match items.first() {
            Some(Value::Text(text)) => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    };
    entries.iter().any(|(key, value)| match (key.as_ref(), first(value)) {
        ("command" | "cmd", Some(command)) => named(&command),
        ("url" | "httpUrl" | "uri", Some(url)) => url.trim_end_matches('/').ends_with("/mcp"),
        _ => false,
    })
}

/// What to put into a configuration by hand, as it stands in a file of its own.
///
/// ```
/// use prowess_package::connect::{Name, Server, client, snippet};
///
/// let server = Server::Stdio { command: "prowess".to_owned(), args: vec!["mcp".to_owned()] };
/// let text = snippet(client("codex").unwrap(), &Name::parse("prowess").unwrap(), &server).unwrap();
/// assert_eq!(text, "[mcp_servers.prowess]\ncommand = \"prowess\"\nargs = [\"mcp\"]\n");
/// ```
pub fn snippet(client: &Client, name: &Name, server: &Server) -> Result<String, ConnectError> {
    let value = self::entry(client, name, server)?;
    let path = [client.section, name.as_str()];
    entry::document(client.form, path, &value)
        .map_err(|source| ConnectError::Entry { path: client.id.into(), source })
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[derive(Default)]
struct Entry(Vec<(Box<str>, Value)>);

impl Entry {
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

    fn yes(&mut self, key: &str) -> &mut Self {
        self.put(key, Value::Bool(true))
    }

    fn number(&mut self, key: &str, number: &str) -> &mut Self {
        self.put(key, Value::Number(number.into()))
    }

    fn token(&mut self, client: &Client, token: &Token) -> Result<(), ConnectError> {
        match client.token {
            TokenBy::Nothing => return Err(ConnectError::NoToken { client: client.title }),
            TokenBy::Field(field) => self.text(field, token.variable()),
            TokenBy::Header(pattern) => {
                let header = text(&pattern.replace("NAME", token.variable()));
                self.put("headers", Value::Map(vec![("Authorization".into(), header)]))
            }
        };
        // goose hands only those variables on that are named.
        if client.shape == Shape::Goose {
            self.list("env_keys", &[token.variable().to_owned()]);
        }
        Ok(())
    }
}
