//! `[[sources.mcp]]`: servers that skills are taken from.

use prowess_format::suggest::nearest;
use serde_json::{Value as Json, json};

use super::{Field, Wrong};
use crate::source::{McpSource, Reach};
use crate::tree::{Entry, Kind, Tree, clipped};
use crate::values::{Lens, Values};

/// The most servers.
const SOURCES_MAX: usize = 64;

/// The longest that one answer may take, in milliseconds.
const TIMEOUT_MAX: u32 = 600_000;

const KEYS: [&str; 8] = ["label", "command", "args", "env", "url", "token-env", "timeout-ms", "enabled"];

/// A list of servers.
pub(crate) struct Sources {
    pub(crate) at: Lens<Vec<McpSource>>,
}

impl Field for Sources {
    fn takes(&self) -> String {
        "a list of tables with label, and command or url".to_owned()
    }

    fn read(&self, tree: &Tree, values: &mut Values) -> Result<(), Wrong> {
        let Kind::List(items) = &tree.kind else {
            return Err(Wrong::is(tree).help("write [[sources.mcp]] above each of them".to_owned()));
        };
        if items.len() > SOURCES_MAX {
            return Err(wrong(tree, format!("has more than {SOURCES_MAX} tables")));
        }
        let mut sources: Vec<McpSource> = Vec::new();
        for item in items {
            let source = source(item)?;
            if sources.iter().any(|known| known.label == source.label) {
                return Err(wrong(item, format!("has the label {} twice", source.label)));
            }
            sources.push(source);
        }
        *(self.at.get_mut)(values) = sources;
        Ok(())
    }

    fn write(&self, values: &Values) -> Json {
        (self.at.get)(values).iter().map(written).collect()
    }
}

fn written(source: &McpSource) -> Json {
    let mut json = json!({"label": source.label, "timeout-ms": source.timeout_ms, "enabled": source.enabled});
    match &source.reach {
        Reach::Command { program, args, env } => {
            json["command"] = json!(program);
            json["args"] = json!(args);
            json["env"] = json!(env);
        }
        Reach::Url { url, token_env } => {
            json["url"] = json!(url);
            if let Some(name) = token_env {
                json["token-env"] = json!(name);
            }
        }
    }
    json
}

fn source(tree: &Tree) -> Result<McpSource, Wrong> {
    let Kind::Table(entries) = &tree.kind else { return Err(Wrong::has(tree, "")) };
    for Entry { key, span, .. } in entries {
        if !KEYS.contains(&key.as_str()) {
            let what = format!("has the unknown key {} in it", clipped(key));
            let help = match nearest(key, KEYS) {
                Some(near) => format!("did you mean {near}? the keys are {}", KEYS.join(", ")),
                None => format!("the keys are {}", KEYS.join(", ")),
            };
            return Err(Wrong { span: Some(*span), what, help: Some(help) });
        }
    }
    let get = |key: &str| tree.get(key).map(|entry| &entry.value);
    let label = match get("label") {
        None => return Err(wrong(tree, "has a table without a label".to_owned())),
        Some(value) => text(value, "label")?,
    };
    if !McpSource::is_label(&label) {
        let (value, shown) = (get("label").unwrap_or(tree), clipped(&label));
        let help = format!(
            "a label has lower-case letters, digits and hyphens, begins with a letter, and has at most {} characters",
            McpSource::LABEL_MAX
        );
        return Err(wrong(value, format!("has the label \"{shown}\"")).help(help));
    }
    let reach = reach(tree, &label)?;
    let timeout_ms = match get("timeout-ms") {
        None => McpSource::TIMEOUT_MS,
        Some(value) => number(value).ok_or_else(|| {
            wrong(
                value,
                format!("has the timeout-ms {}, not a number from 1 to {TIMEOUT_MAX}", value.shown()),
            )
        })?,
    };
    let enabled = match get("enabled").map(|value| (value, &value.kind)) {
        None => true,
        Some((_, Kind::Truth(truth))) => *truth,
        Some((value, _)) => {
            return Err(wrong(value, format!("has {} for enabled, not true or false", value.shown())));
        }
    };
    Ok(McpSource { label, reach, timeout_ms, enabled })
}

/// A command or a URL, and not both.
fn reach(tree: &Tree, label: &str) -> Result<Reach, Wrong> {
    let get = |key: &str| tree.get(key).map(|entry| &entry.value);
    let stray = |keys: &[&str], with: &str| match keys.iter().find_map(|key| Some((*key, get(key)?))) {
        Some((key, value)) => Err(wrong(value, format!("has {key} beside {with} in {label}"))),
        None => Ok(()),
    };
    match (get("command"), get("url")) {
        (Some(command), None) => {
            stray(&["token-env"], "command")?;
            let program = text(command, "command")?;
            if program.contains('/') && !program.starts_with('/') {
                let help = "write a name that is on PATH, or the whole path".to_owned();
                return Err(
                    wrong(command, format!("has the relative command \"{}\"", clipped(&program))).help(help)
                );
            }
            let args = get("args").map_or_else(|| Ok(Vec::new()), |args| texts(args, "args"))?;
            let env = get("env").map_or_else(|| Ok(Vec::new()), variables)?;
            Ok(Reach::Command { program, args, env })
        }
        (None, Some(url)) => {
            stray(&["args", "env"], "url")?;
            let address = text(url, "url")?;
            if !is_safe(&address) {
                let help = "write https://…; http:// is for servers on this machine, by 127.0.0.1, [::1] or localhost";
                return Err(
                    wrong(url, format!("has the url \"{}\"", clipped(&address))).help(help.to_owned())
                );
            }
            let token_env = get("token-env").map(variable).transpose()?;
            Ok(Reach::Url { url: address, token_env })
        }
        (None, None) => Err(wrong(tree, format!("has neither command nor url in {label}"))),
        (Some(_), Some(url)) => Err(wrong(url, format!("has url beside command in {label}"))),
    }
}

/// What a token may be sent to: encrypted, or not leaving the machine.
fn is_safe(url: &str) -> bool {
    let host = |rest: &str| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let name = match authority.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        (!authority.contains('@') && !name.is_empty()).then(|| name.to_ascii_lowercase())
    };
    let plain = !url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    match (lower.starts_with("https://"), lower.starts_with("http://")) {
        (true, _) => plain && url.get(8..).and_then(host).is_some(),
        (_, true) => {
            let name = url.get(7..).and_then(host).unwrap_or_default();
            let local = name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
            plain && (local || name == "localhost")
        }
        (false, false) => false,
    }
}

fn text(tree: &Tree, key: &str) -> Result<String, Wrong> {
    match &tree.kind {
        Kind::Text(text) if !text.trim().is_empty() && !text.contains('\0') => Ok(text.clone()),
        _ => Err(wrong(tree, format!("has {} for {key}, not a text", tree.shown()))),
    }
}

fn texts(tree: &Tree, key: &str) -> Result<Vec<String>, Wrong> {
    let item = |item: &Tree| match &item.kind {
        Kind::Text(text) if !text.contains('\0') => Ok(text.clone()),
        _ => Err(wrong(item, format!("has {} in {key}, not a text", item.shown()))),
    };
    match &tree.kind {
        Kind::List(items) => items.iter().map(item).collect(),
        _ => Err(wrong(tree, format!("has {} for {key}, not a list of texts", tree.shown()))),
    }
}

fn variables(tree: &Tree) -> Result<Vec<String>, Wrong> {
    match &tree.kind {
        Kind::List(items) => items.iter().map(variable).collect(),
        _ => Err(wrong(tree, format!("has {} for env, not a list of names of variables", tree.shown()))),
    }
}

fn variable(tree: &Tree) -> Result<String, Wrong> {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match &tree.kind {
        Kind::Text(text) if is_name(text) => Ok(text.clone()),
        _ => {
            let help = "write the name alone; its value stays in the environment".to_owned();
            Err(wrong(tree, format!("has {}, which is no name of a variable", tree.shown())).help(help))
        }
    }
}

fn number(tree: &Tree) -> Option<u32> {
    match tree.kind {
        Kind::Whole(number) => u32::try_from(number).ok().filter(|number| (1..=TIMEOUT_MAX).contains(number)),
        _ => None,
    }
}

fn wrong(tree: &Tree, what: String) -> Wrong {
    Wrong { span: Some(tree.span), what, help: None }
}
