//! `plugin.json`: of Agent Plugins 1.0.0, and in the formats of clients.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use prowess_format::hidden::escape_and_truncate;
use prowess_format::{Code, suggest};

use super::json::{JsonFile, Parsed, key_span, span};
use super::limits::PATHS_MAX;
use super::mcp::{McpServer, read_servers};
use super::name::PluginName;
use super::path::PluginPath;
use super::schema::{PLUGIN_SCHEMA, PluginFormat, check_schema};

/// The fields of `plugin.json` in Agent Plugins 1.0.0.
const STANDARD_FIELDS: [&str; 10] = [
    "$schema",
    "name",
    "version",
    "description",
    "author",
    "homepage",
    "repository",
    "license",
    "keywords",
    "extensions",
];

/// The fields that clients know in addition.
const CLIENT_FIELDS: [&str; 11] = [
    "displayName",
    "defaultEnabled",
    "dependencies",
    "metadata",
    "engines",
    "category",
    "tags",
    "userConfig",
    "experimental",
    "skills",
    "mcpServers",
];

prowess_format::named_enum! {
    /// A part of a plugin that is listed and not installed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PluginPart {
        /// Custom commands.
        Commands = "commands",
        /// Agents.
        Agents = "agents",
        /// Hooks.
        Hooks = "hooks",
        /// Language servers.
        LspServers = "LSP servers",
        /// Output styles.
        OutputStyles = "output styles",
        /// Themes.
        Themes = "themes",
        /// Workflows.
        Workflows = "workflows",
        /// Channels.
        Channels = "channels",
        /// Monitors.
        Monitors = "monitors",
        /// Settings.
        Settings = "settings",
        /// MCP servers in archives.
        ServerBundles = "MCP server bundles",
        /// Data or files for a client.
        Extensions = "client extensions",
    }
}

impl PluginPart {
    /// Returns the part that a field declares.
    fn from_field(field: &str) -> Option<Self> {
        Some(match field {
            "commands" => Self::Commands,
            "agents" => Self::Agents,
            "hooks" => Self::Hooks,
            "lspServers" => Self::LspServers,
            "outputStyles" => Self::OutputStyles,
            "themes" => Self::Themes,
            "workflows" => Self::Workflows,
            "channels" => Self::Channels,
            "monitors" => Self::Monitors,
            "settings" => Self::Settings,
            _ => return None,
        })
    }
}

/// A manifest. All texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginManifest {
    /// The format.
    pub format: PluginFormat,
    /// The name.
    pub name: PluginName,
    /// The version, in any form.
    pub version: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The components that the manifest declares. Manifests of Agent Plugins declare none.
    pub components: Components,
}

/// The components that a manifest in the format of a client declares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Components {
    /// Directories that are skills or contain skills; `None` without the field.
    pub skills: Option<Vec<PluginPath>>,
    /// MCP servers.
    pub servers: Vec<McpServer>,
    /// Files with MCP servers.
    pub server_files: Vec<PluginPath>,
    /// Parts that are not installed.
    pub parts: Vec<PluginPart>,
}

/// Parses `plugin.json`. The manifest is `None` if the plugin must be rejected.
///
/// ```
/// use prowess_package::agent_plugins::{PLUGIN_SCHEMA, PluginFormat, parse_plugin_manifest};
///
/// let text = format!(r#"{{"$schema": "{PLUGIN_SCHEMA}", "name": "acme.tools", "colour": 1}}"#);
/// let parsed = parse_plugin_manifest(text.as_bytes(), PluginFormat::AgentPlugins);
/// assert_eq!(parsed.value.unwrap().name.as_str(), "acme.tools");
/// assert_eq!(parsed.diagnostics[0].to_string(), "warning[SK114]: unknown field colour");
/// ```
pub fn parse_plugin_manifest(bytes: &[u8], format: PluginFormat) -> Parsed<PluginManifest> {
    let (mut file, object) = JsonFile::parse(bytes);
    let manifest = object.and_then(|object| match format {
        PluginFormat::AgentPlugins => read_standard(&mut file, &object),
        PluginFormat::Client => read_client(&mut file, &object),
    });
    let diagnostics = file.finish();
    let is_rejected = diagnostics.iter().any(|diagnostic| {
        // Servers and paths are left out one by one; everything else rejects the plugin.
        diagnostic.is_error() && !matches!(diagnostic.code, Code::PluginServer | Code::PluginPath)
    });
    Parsed { value: manifest.filter(|_| !is_rejected), diagnostics }
}

fn read_standard(file: &mut JsonFile<'_>, object: &Object<'_>) -> Option<PluginManifest> {
    // The version decides which rules apply, so nothing else is checked without it.
    if !check_schema(file, object, PLUGIN_SCHEMA) {
        return None;
    }
    reject_duplicate_fields(file, object, &STANDARD_FIELDS);
    let name = read_name(file, object, PluginFormat::AgentPlugins);
    let (mut version, mut description, mut parts) = (None, None, Vec::new());
    for member in &object.properties {
        match member.name.as_str() {
            "$schema" | "name" => {}
            "version" => version = file.text(Code::PluginField, member),
            "description" => description = file.text(Code::PluginField, member),
            "homepage" | "repository" | "license" => drop(file.text(Code::PluginField, member)),
            "keywords" => drop(file.texts(Code::PluginField, member)),
            "author" => check_author(file, member),
            "extensions" => match member.value.as_object() {
                // The values belong to the clients that are named.
                Some(extensions) if extensions.properties.is_empty() => {}
                Some(_) => parts.push(PluginPart::Extensions),
                None => {
                    let help = "write {\"com.example.client\": {…}}, or remove it";
                    file.warn(
                        Code::PluginUnknownField,
                        span(&member.value),
                        "extensions is not an object; ignored",
                        help,
                    );
                }
            },
            _ => warn_unknown(file, member, &STANDARD_FIELDS),
        }
    }
    let components = Components { parts, ..Components::default() };
    Some(PluginManifest { format: PluginFormat::AgentPlugins, name: name?, version, description, components })
}

fn read_client(file: &mut JsonFile<'_>, object: &Object<'_>) -> Option<PluginManifest> {
    reject_duplicate_fields(file, object, &["name", "skills", "mcpServers", "version"]);
    let name = read_name(file, object, PluginFormat::Client);
    let (version, description) =
        (lenient_text(file, object, "version"), lenient_text(file, object, "description"));
    let components = read_components(file, object);
    let is_known = |name: &str| {
        STANDARD_FIELDS.contains(&name)
            || CLIENT_FIELDS.contains(&name)
            || PluginPart::from_field(name).is_some()
    };
    for member in object.properties.iter().filter(|member| !is_known(member.name.as_str())) {
        warn_unknown(file, member, &STANDARD_FIELDS);
    }
    Some(PluginManifest { format: PluginFormat::Client, name: name?, version, description, components })
}

/// Reads the components of a manifest, or of an entry of a marketplace, in the format of a client.
pub(super) fn read_components(file: &mut JsonFile<'_>, object: &Object<'_>) -> Components {
    let mut components = Components::default();
    for member in &object.properties {
        match member.name.as_str() {
            "skills" => components.skills = Some(read_paths(file, member)),
            "mcpServers" => read_server_field(file, &member.value, &mut components, true),
            field => components.parts.extend(PluginPart::from_field(field)),
        }
    }
    components
}

/// Reads a path or a list of paths. Invalid ones are reported and left out.
fn read_paths(file: &mut JsonFile<'_>, member: &ObjectProp<'_>) -> Vec<PluginPath> {
    let values: Vec<&Value<'_>> = match &member.value {
        Value::Array(list) => list.elements.iter().collect(),
        value => vec![value],
    };
    if let Some(first) = values.get(PATHS_MAX) {
        let message = format!("{} has more than {PATHS_MAX} paths", member.name.as_str());
        file.error(Code::PluginLimit, span(first), message, "remove what is not needed");
    }
    values
        .into_iter()
        .take(PATHS_MAX)
        .filter_map(|value| read_path(file, member.name.as_str(), value))
        .collect()
}

fn read_path(file: &mut JsonFile<'_>, field: &str, value: &Value<'_>) -> Option<PluginPath> {
    let Value::StringLit(text) = value else {
        file.error(Code::PluginPath, span(value), format!("{field} is not a path"), "write \"./DIRECTORY\"");
        return None;
    };
    PluginPath::parse(&text.value)
        .map_err(|error| {
            let message = format!("{field} contains {}: {error}", escape_and_truncate(&text.value));
            file.error(
                Code::PluginPath,
                span(value),
                message,
                "name a path inside the plugin, such as ./skills/pdf",
            );
        })
        .ok()
}

/// Reads servers, the path of a file with servers, or a list of both.
fn read_server_field(file: &mut JsonFile<'_>, value: &Value<'_>, components: &mut Components, in_list: bool) {
    match value {
        Value::Object(servers) => {
            components.servers.extend(read_servers(file, servers, PluginFormat::Client));
        }
        Value::StringLit(text) if text.value.ends_with(".mcpb") || text.value.ends_with(".dxt") => {
            components.parts.push(PluginPart::ServerBundles);
        }
        Value::Array(list) if in_list => {
            let items = list.elements.iter().take(PATHS_MAX);
            items.for_each(|item| read_server_field(file, item, components, false));
        }
        other => components.server_files.extend(read_path(file, "mcpServers", other)),
    }
}

/// Reads the name.
pub(super) fn read_name(
    file: &mut JsonFile<'_>,
    object: &Object<'_>,
    format: PluginFormat,
) -> Option<PluginName> {
    let Some(member) = object.get("name") else {
        let start = object.range.start;
        file.error(Code::PluginField, (start, start + 1), "name is missing", "add \"name\": \"my-plugin\"");
        return None;
    };
    let text = file.text(Code::PluginField, member)?;
    PluginName::parse(&text, format)
        .map_err(|error| {
            let message = format!("invalid name “{}”: {error}", escape_and_truncate(&text));
            file.error(Code::PluginName, span(&member.value), message, "use a name such as my-plugin");
        })
        .ok()
}

/// Reads a text that is only shown. A value of another type is reported and ignored.
pub(super) fn lenient_text(file: &mut JsonFile<'_>, object: &Object<'_>, name: &str) -> Option<String> {
    let member = object.get(name)?;
    if member.value.as_string_lit().is_none() {
        let message = format!("{name} is not text; ignored");
        file.warn(Code::PluginField, span(&member.value), message, "write a text in double quotes");
    }
    member.value.as_string_lit().map(|text| text.value.clone().into_owned())
}

fn check_author(file: &mut JsonFile<'_>, member: &ObjectProp<'_>) {
    let Some(author) = member.value.as_object() else {
        let help = "write {\"name\": \"…\"}";
        file.error(Code::PluginField, span(&member.value), "author is not an object", help);
        return;
    };
    file.reject_duplicates(author, Code::PluginField);
    for member in &author.properties {
        match member.name.as_str() {
            "name" | "email" | "url" => drop(file.text(Code::PluginField, member)),
            other => {
                let message = format!("author has an unknown field {}", escape_and_truncate(other));
                file.error(
                    Code::PluginField,
                    key_span(member),
                    message,
                    "author has only name, email and url",
                );
            }
        }
    }
}

/// Rejects duplicates of these fields. Unknown fields are ignored, and so are their duplicates.
fn reject_duplicate_fields(file: &mut JsonFile<'_>, object: &Object<'_>, fields: &[&str]) {
    for field in fields {
        let duplicate = object.properties.iter().filter(|member| member.name.as_str() == *field).nth(1);
        if let Some(member) = duplicate {
            file.error(
                Code::PluginField,
                key_span(member),
                format!("duplicate key {field}"),
                "delete one of them",
            );
        }
    }
}

fn warn_unknown(file: &mut JsonFile<'_>, member: &ObjectProp<'_>, known: &[&'static str]) {
    let name = member.name.as_str();
    let help = match suggest::nearest(name, known.iter().copied()) {
        Some(known) => format!("did you mean {known}?"),
        None => "it is ignored; remove it, or put it under a key of your client in extensions".to_owned(),
    };
    let message = format!("unknown field {}", escape_and_truncate(name));
    file.warn(Code::PluginUnknownField, key_span(member), message, &help);
}
