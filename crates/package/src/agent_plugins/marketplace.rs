//! `marketplace.json`: a list of plugins and where they come from.

use jsonc_parser::ast::{Object, Value};
use prowess_format::Code;
use prowess_format::hidden::escape_and_truncate;

use super::json::{JsonFile, Parsed, span};
use super::limits::PLUGINS_MAX;
use super::manifest::{Components, lenient_text, read_components, read_name};
use super::name::PluginName;
use super::path::{PluginPath, join};
use super::schema::PluginFormat;
use crate::source::{Source, parse_source};
use prowess_archive::InnerPath;

/// A marketplace. All texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marketplace {
    /// The name.
    pub name: PluginName,
    /// The plugins, in the order of the file. Their names differ.
    pub plugins: Vec<MarketplaceEntry>,
}

/// A plugin in a marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketplaceEntry {
    /// The name.
    pub name: PluginName,
    /// The version.
    pub version: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Where the plugin comes from.
    pub source: PluginSource,
    /// Whether the entry is the manifest, so that the plugin needs none.
    pub is_manifest: bool,
    /// The components that the entry declares.
    pub components: Components,
}

/// Where a plugin of a marketplace comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// A directory of the marketplace.
    Local(PluginPath),
    /// Another repository.
    Remote {
        /// The repository, at a branch, tag or commit.
        source: Source,
        /// The directory in it.
        subdir: Option<InnerPath>,
    },
    /// A source that cannot be used, and the reason.
    Unsupported(String),
}

/// Parses `marketplace.json`. Invalid entries are reported and left out.
///
/// ```
/// use prowess_package::agent_plugins::{PluginSource, parse_marketplace};
///
/// let text = r#"{"name": "team", "owner": {"name": "Ada"}, "plugins": [{"name": "pdf", "source": {"source": "npm"}}]}"#;
/// let marketplace = parse_marketplace(text.as_bytes()).value.unwrap();
/// assert!(matches!(&marketplace.plugins[0].source, PluginSource::Unsupported(reason) if reason.contains("npm")));
/// ```
pub fn parse_marketplace(bytes: &[u8]) -> Parsed<Marketplace> {
    let (mut file, object) = JsonFile::parse(bytes);
    let value = object.and_then(|object| read_marketplace(&mut file, &object));
    Parsed { value, diagnostics: file.finish() }
}

fn read_marketplace(file: &mut JsonFile<'_>, object: &Object<'_>) -> Option<Marketplace> {
    let is_unique = file.reject_duplicates(object, Code::PluginField);
    let name = read_name(file, object, PluginFormat::Client);
    if object.get_object("owner").is_none() {
        file.warn(
            Code::PluginField,
            (0, 1),
            "owner is missing or not an object",
            "add \"owner\": {\"name\": \"…\"}",
        );
    }
    let metadata = object.get_object("metadata");
    let plugin_root = metadata.and_then(|metadata| read_plugin_root(file, metadata));
    let Some(list) = object.get_array("plugins") else {
        file.error(Code::PluginField, (0, 1), "plugins is missing or not a list", "add \"plugins\": []");
        return None;
    };
    if let Some(first) = list.elements.get(PLUGINS_MAX) {
        let message = format!("there are more than {PLUGINS_MAX} plugins; the others are ignored");
        file.error(Code::PluginLimit, span(first), message, "split the marketplace");
    }
    let mut plugins: Vec<MarketplaceEntry> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for element in list.elements.iter().take(PLUGINS_MAX) {
        let Value::Object(object) = element else {
            file.error(
                Code::PluginField,
                span(element),
                "a plugin is not an object",
                "write {\"name\": …, \"source\": …}",
            );
            continue;
        };
        let Some(entry) = read_entry(file, object, plugin_root.as_ref()) else { continue };
        if names.insert(entry.name.clone()) {
            plugins.push(entry);
        } else {
            let message = format!("two plugins have the name {}; the second one is ignored", entry.name);
            file.error(Code::PluginName, span(element), message, "rename one of them");
        }
    }
    is_unique.then_some(())?;
    Some(Marketplace { name: name?, plugins })
}

/// Reads the directory that bare names in `source` are in.
fn read_plugin_root(file: &mut JsonFile<'_>, metadata: &Object<'_>) -> Option<PluginPath> {
    let text = lenient_text(file, metadata, "pluginRoot")?;
    // Older marketplaces omit `./`.
    let relative = if text.starts_with('.') { text.clone() } else { format!("./{text}") };
    PluginPath::parse(&relative)
        .map_err(|error| {
            let message = format!("pluginRoot is {}: {error}", escape_and_truncate(&text));
            file.error(
                Code::PluginPath,
                (0, 1),
                message,
                "name a directory inside the marketplace, such as ./plugins",
            );
        })
        .ok()
}

fn read_entry(
    file: &mut JsonFile<'_>,
    object: &Object<'_>,
    plugin_root: Option<&PluginPath>,
) -> Option<MarketplaceEntry> {
    if !file.reject_duplicates(object, Code::PluginField) {
        return None;
    }
    let name = read_name(file, object, PluginFormat::Client)?;
    let Some(member) = object.get("source") else {
        let message = format!("{name}: source is missing");
        let help = "add \"source\": \"./plugins/NAME\"";
        file.error(Code::PluginField, (object.range.start, object.range.start + 1), message, help);
        return None;
    };
    let source = match &member.value {
        Value::StringLit(text) => {
            let path = local_path(&text.value, plugin_root).map_err(|reason| {
                let message = format!("{name}: source {}: {reason}", escape_and_truncate(&text.value));
                let help = "name a directory inside the marketplace, such as ./plugins/NAME";
                file.error(Code::PluginPath, span(&member.value), message, help);
            });
            PluginSource::Local(path.ok()?)
        }
        Value::Object(source) => remote_source(source).unwrap_or_else(|reason| {
            let message = format!("{name}: {reason}");
            let help = "use github, url or git-subdir, with an https or ssh URL";
            file.warn(Code::PluginSource, span(&member.value), message, help);
            PluginSource::Unsupported(reason)
        }),
        other => {
            let message = format!("{name}: source is neither a path nor an object");
            file.error(Code::PluginSource, span(other), message, "write \"./plugins/NAME\"");
            return None;
        }
    };
    let is_manifest = object.get_boolean("strict").is_some_and(|strict| !strict.value);
    Some(MarketplaceEntry {
        name,
        version: lenient_text(file, object, "version"),
        description: lenient_text(file, object, "description"),
        source,
        is_manifest,
        components: read_components(file, object),
    })
}

fn local_path(text: &str, plugin_root: Option<&PluginPath>) -> Result<PluginPath, String> {
    let is_bare = !text.starts_with('.') && !text.contains('/');
    match plugin_root.filter(|_| is_bare) {
        Some(root) => PluginPath::parse(&format!("./{}", join(&root.below(""), text))),
        None => PluginPath::parse(text),
    }
    .map_err(|error| error.to_string())
}

/// Returns the source that an object describes. The rules for sources of `install` apply, and a local path is not one.
fn remote_source(object: &Object<'_>) -> Result<PluginSource, String> {
    let text = |name: &str| object.get_string(name).map(|text| text.value.as_ref());
    let kind = text("source").ok_or("source has no type")?;
    let base = match kind {
        "github" => {
            let repo = text("repo").ok_or("a github source needs repo")?;
            format!("github:{repo}")
        }
        "url" | "git-subdir" => {
            let url = text("url").ok_or_else(|| format!("a {kind} source needs url"))?;
            // A URL of a page would select a directory in it.
            if url.to_ascii_lowercase().starts_with("https://") {
                format!("git+{url}")
            } else {
                url.to_owned()
            }
        }
        other => return Err(format!("unknown source type {}", escape_and_truncate(other))),
    };
    if base.contains('#') {
        return Err("the URL contains #; use ref".to_owned());
    }
    let commit = text("sha");
    if commit.is_some_and(|sha| sha.len() != 40 || !sha.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return Err("sha is not a commit of 40 digits".to_owned());
    }
    let reference = commit.or(text("ref")).map(|reference| format!("#{reference}")).unwrap_or_default();
    let source = parse_source(&format!("{base}{reference}"), |_| None).map_err(|error| error.to_string())?;
    if !matches!(source, Source::Git { subdir: None, skill: None, .. }) {
        return Err("the source is not a repository".to_owned());
    }
    let path = text("path").map(|path| path.strip_prefix("./").unwrap_or(path).trim_end_matches('/'));
    let subdir = match path.filter(|path| !path.is_empty() && *path != ".") {
        Some(path) => {
            Some(InnerPath::parse(path.as_bytes()).map_err(|error| format!("path is invalid: {error}"))?)
        }
        None if kind == "git-subdir" => return Err("a git-subdir source needs path".to_owned()),
        None => None,
    };
    Ok(PluginSource::Remote { source, subdir })
}
