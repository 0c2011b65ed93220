//! `[[sources.mcp]]`: servers that provide skills.

use prowess_format::suggest::nearest;
use serde_json::{Value as Json, json};

use super::{InvalidValue, KeyField};
use crate::mcp_source::{McpSource, McpTransport};
use crate::tree::{ConfigTree, TreeEntry, TreeKind, clip_for_display};
use crate::values::{ConfigValues, ValueLens};

/// The maximum number of servers.
const SOURCES_MAX: usize = 64;

/// The maximum timeout of a request, in milliseconds.
const TIMEOUT_MAX: u32 = 600_000;

const KEYS: [&str; 8] = ["label", "command", "args", "env", "url", "token-env", "timeout-ms", "enabled"];

/// A list of servers.
pub(crate) struct McpSourcesField {
    pub(crate) lens: ValueLens<Vec<McpSource>>,
}

impl KeyField for McpSourcesField {
    fn expected(&self) -> String {
        "a list of tables with label, and command or url".to_owned()
    }

    fn parse_into(&self, tree: &ConfigTree, values: &mut ConfigValues) -> Result<(), InvalidValue> {
        let TreeKind::List(items) = &tree.kind else {
            return Err(InvalidValue::value(tree).help("write [[sources.mcp]] above each server".to_owned()));
        };
        if items.len() > SOURCES_MAX {
            return Err(invalid(tree, format!("has more than {SOURCES_MAX} tables")));
        }
        let mut sources: Vec<McpSource> = Vec::new();
        for item in items {
            let source = parse_source(item)?;
            if sources.iter().any(|existing| existing.label == source.label) {
                return Err(invalid(item, format!("contains the label {} twice", source.label)));
            }
            sources.push(source);
        }
        *(self.lens.get_mut)(values) = sources;
        Ok(())
    }

    fn to_json(&self, values: &ConfigValues) -> Json {
        (self.lens.get)(values).iter().map(source_to_json).collect()
    }
}

fn source_to_json(source: &McpSource) -> Json {
    let mut json = json!({"label": source.label, "timeout-ms": source.timeout_ms, "enabled": source.enabled});
    match &source.transport {
        McpTransport::Command { program, args, env } => {
            json["command"] = json!(program);
            json["args"] = json!(args);
            json["env"] = json!(env);
        }
        McpTransport::Url { url, token_env } => {
            json["url"] = json!(url);
            if let Some(name) = token_env {
                json["token-env"] = json!(name);
            }
        }
    }
    json
}

fn parse_source(tree: &ConfigTree) -> Result<McpSource, InvalidValue> {
    let TreeKind::Table(entries) = &tree.kind else { return Err(InvalidValue::item(tree, "")) };
    for TreeEntry { key, span, .. } in entries {
        if !KEYS.contains(&key.as_str()) {
            let problem = format!("contains the unknown key {}", clip_for_display(key));
            let help = match nearest(key, KEYS) {
                Some(similar) => format!("did you mean {similar}? valid keys: {}", KEYS.join(", ")),
                None => format!("valid keys: {}", KEYS.join(", ")),
            };
            return Err(InvalidValue::detail(Some(*span), problem).help(help));
        }
    }
    let get = |key: &str| tree.get(key).map(|entry| &entry.value);
    let label = match get("label") {
        None => {
            return Err(InvalidValue::whole(Some(tree.span), "contains a server without a label".to_owned()));
        }
        Some(value) => parse_text(value, "label")?,
    };
    if !McpSource::is_valid_label(&label) {
        let (value, clipped_label) = (get("label").unwrap_or(tree), clip_for_display(&label));
        let help = format!(
            "use lower-case letters, digits and hyphens, beginning with a letter, at most {} characters",
            McpSource::LABEL_MAX
        );
        return Err(invalid(value, format!("contains the invalid label \"{clipped_label}\"")).help(help));
    }
    let transport = parse_transport(tree, &label)?;
    let timeout_ms = match get("timeout-ms") {
        None => McpSource::DEFAULT_TIMEOUT_MS,
        Some(value) => parse_timeout(value).ok_or_else(|| {
            invalid(
                value,
                format!(
                    "contains {} for timeout-ms; expected a number from 1 to {TIMEOUT_MAX}",
                    value.describe()
                ),
            )
        })?,
    };
    let enabled = match get("enabled").map(|value| (value, &value.kind)) {
        None => true,
        Some((_, TreeKind::Bool(enabled))) => *enabled,
        Some((value, _)) => {
            return Err(invalid(
                value,
                format!("contains {} for enabled; expected true or false", value.describe()),
            ));
        }
    };
    Ok(McpSource { label, transport, timeout_ms, enabled })
}

/// Parses the transport: either a command or a URL.
fn parse_transport(tree: &ConfigTree, label: &str) -> Result<McpTransport, InvalidValue> {
    let get = |key: &str| tree.get(key).map(|entry| &entry.value);
    let reject_keys = |keys: &[&str], with: &str| match keys.iter().find_map(|key| Some((*key, get(key)?))) {
        Some((key, value)) => Err(invalid(value, format!("contains both {key} and {with} in {label}"))),
        None => Ok(()),
    };
    match (get("command"), get("url")) {
        (Some(command), None) => {
            reject_keys(&["token-env"], "command")?;
            let program = parse_text(command, "command")?;
            if program.contains('/') && !program.starts_with('/') {
                let help = "use a name in PATH, or an absolute path".to_owned();
                return Err(invalid(
                    command,
                    format!("contains the relative command \"{}\"", clip_for_display(&program)),
                )
                .help(help));
            }
            let args = get("args").map_or_else(|| Ok(Vec::new()), |args| parse_texts(args, "args"))?;
            let env = get("env").map_or_else(|| Ok(Vec::new()), parse_variables)?;
            Ok(McpTransport::Command { program, args, env })
        }
        (None, Some(url)) => {
            reject_keys(&["args", "env"], "url")?;
            let address = parse_text(url, "url")?;
            if !is_safe_url(&address) {
                let help = "use https://; http:// is only allowed for 127.0.0.1, [::1] and localhost";
                return Err(invalid(
                    url,
                    format!("contains the invalid url \"{}\"", clip_for_display(&address)),
                )
                .help(help.to_owned()));
            }
            let token_env = get("token-env").map(parse_variable).transpose()?;
            Ok(McpTransport::Url { url: address, token_env })
        }
        (None, None) => {
            Err(InvalidValue::whole(Some(tree.span), format!("contains neither command nor url in {label}")))
        }
        (Some(_), Some(url)) => Err(invalid(url, format!("contains both url and command in {label}"))),
    }
}

/// Returns `true` if a token may be sent to a URL: it is encrypted or on this machine.
fn is_safe_url(url: &str) -> bool {
    let host = |rest: &str| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let name = match authority.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        (!authority.contains('@') && !name.is_empty()).then(|| name.to_ascii_lowercase())
    };
    let is_plain = !url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    match (lower.starts_with("https://"), lower.starts_with("http://")) {
        (true, _) => is_plain && url.get(8..).and_then(host).is_some(),
        (_, true) => {
            let name = url.get(7..).and_then(host).unwrap_or_default();
            let is_loopback = name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
            is_plain && (is_loopback || name == "localhost")
        }
        (false, false) => false,
    }
}

fn parse_text(tree: &ConfigTree, key: &str) -> Result<String, InvalidValue> {
    match &tree.kind {
        TreeKind::Text(text) if !text.trim().is_empty() && !text.contains('\0') => Ok(text.clone()),
        _ => Err(invalid(tree, format!("contains {} for {key}; expected a string", tree.describe()))),
    }
}

fn parse_texts(tree: &ConfigTree, key: &str) -> Result<Vec<String>, InvalidValue> {
    let item = |item: &ConfigTree| match &item.kind {
        TreeKind::Text(text) if !text.contains('\0') => Ok(text.clone()),
        _ => Err(invalid(item, format!("contains {} in {key}; expected a string", item.describe()))),
    };
    match &tree.kind {
        TreeKind::List(items) => items.iter().map(item).collect(),
        _ => {
            Err(invalid(tree, format!("contains {} for {key}; expected a list of strings", tree.describe())))
        }
    }
}

fn parse_variables(tree: &ConfigTree) -> Result<Vec<String>, InvalidValue> {
    match &tree.kind {
        TreeKind::List(items) => items.iter().map(parse_variable).collect(),
        _ => Err(invalid(
            tree,
            format!("contains {} for env; expected a list of variable names", tree.describe()),
        )),
    }
}

fn parse_variable(tree: &ConfigTree) -> Result<String, InvalidValue> {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match &tree.kind {
        TreeKind::Text(text) if is_name(text) => Ok(text.clone()),
        _ => {
            let help = "write only the name; the value comes from the environment".to_owned();
            Err(invalid(tree, format!("contains {}, which is not a variable name", tree.describe()))
                .help(help))
        }
    }
}

fn parse_timeout(tree: &ConfigTree) -> Option<u32> {
    match tree.kind {
        TreeKind::Integer(number) => {
            u32::try_from(number).ok().filter(|number| (1..=TIMEOUT_MAX).contains(number))
        }
        _ => None,
    }
}

/// The error for an invalid detail of a server.
fn invalid(tree: &ConfigTree, problem: String) -> InvalidValue {
    InvalidValue::detail(Some(tree.span), problem)
}
