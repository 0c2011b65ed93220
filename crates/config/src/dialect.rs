//! The configuration files of two other systems, which use different names for the same settings.
//!
//! Preset `harness` (document 002) uses `skills:` in `~/.agent/config.yaml`, preset `chat` (document 004)
//! `[app.skills]` in the project's `config.toml`. The rest of these files is ignored.

use prowess_format::Code;
use prowess_format::suggest::nearest;

use super::field::parse_path;
use super::keys::find_key;
use super::layer_reader::LayerReader;
use super::tree::{ConfigTree, TreeEntry, TreeKind, clip_for_display};
use prowess::policy::{RootLocation, RootSpec, Scope};

/// The names of keys in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigDialect {
    /// The names of Prowess.
    Prowess,
    /// The names of document 002 (preset `harness`).
    Harness,
    /// The names of document 004 (preset `chat`).
    Chat,
}

/// The names of document 002, and the Prowess keys for the same settings. The last two are an extension: the
/// document cannot disable a skill that is neither bundled nor a plugin.
const HARNESS_KEYS: [(&str, Option<&str>); 8] = [
    ("plugins", None),
    ("pluginsDir", None),
    ("userDir", None),
    ("disabledBundled", Some("skills.disabled-bundled")),
    ("enabledBundled", Some("skills.enabled-bundled")),
    ("scriptTimeout", Some("run.script-timeout-ms")),
    ("disabled", Some("skills.disabled")),
    ("enabled", Some("skills.enabled")),
];

/// The names of document 004, and the Prowess keys.
const CHAT_KEYS: [(&str, Option<&str>); 5] = [
    ("enabled", Some("enabled")),
    ("directories", Some("scan.roots")),
    ("max_skills", Some("scan.max-skills")),
    ("max_skill_md_bytes", Some("limits.skill-md-bytes")),
    ("max_resource_bytes", Some("limits.resource-bytes")),
];

const PLUGIN_KEYS: [&str; 5] = ["url", "ref", "name", "enabled", "installedAt"];

impl ConfigDialect {
    /// Returns the path of the section that applies to Prowess.
    pub(super) fn path(self) -> &'static [&'static str] {
        match self {
            Self::Prowess => &[],
            Self::Harness => &["skills"],
            Self::Chat => &["app", "skills"],
        }
    }

    /// Applies the section.
    pub(super) fn apply(self, tree: &ConfigTree, reader: &mut LayerReader<'_>) {
        match self {
            Self::Prowess => reader.apply_table("", tree),
            Self::Harness => apply_section(tree, "skills", &HARNESS_KEYS, reader),
            Self::Chat => apply_section(tree, "app.skills", &CHAT_KEYS, reader),
        }
    }
}

fn apply_section(
    tree: &ConfigTree,
    section: &str,
    names: &[(&str, Option<&'static str>)],
    reader: &mut LayerReader<'_>,
) {
    let valid_names = || names.iter().map(|(name, _)| *name);
    let Some(entries) = expect_table(tree, section, &valid_names().collect::<Vec<_>>(), reader) else {
        return;
    };
    for entry in entries {
        let full_key = format!("{section}.{}", entry.key);
        match names.iter().find(|(name, _)| *name == entry.key) {
            Some((_, Some(prowess_key))) => {
                if let Some(key) = find_key(prowess_key) {
                    reader.set_key(key, &full_key, entry);
                }
            }
            Some(("plugins", None)) => {}
            Some(("pluginsDir", None)) => set_root(entry, &full_key, Scope::Plugin, reader),
            Some(("userDir", None)) => set_root(entry, &full_key, Scope::User, reader),
            _ => reader.report_unknown(&full_key, entry, || {
                suggestion(section, &entry.key, &valid_names().collect::<Vec<_>>())
            }),
        }
    }
    // Disabled plugins are added to the disabled skills, regardless of the order in the file.
    let is_plugins =
        |entry: &&TreeEntry| entry.key == "plugins" && valid_names().any(|name| name == "plugins");
    if let Some(entry) = entries.iter().find(is_plugins) {
        disable_plugins(&entry.value, reader);
    }
}

/// Returns the entries of a table; reports anything else except null.
fn expect_table<'t>(
    tree: &'t ConfigTree,
    name: &str,
    valid_keys: &[&str],
    reader: &mut LayerReader<'_>,
) -> Option<&'t [TreeEntry]> {
    match &tree.kind {
        TreeKind::Table(entries) => Some(entries),
        TreeKind::Null => None,
        _ => {
            let message = format!("{name} is {}, not a table", tree.describe());
            let help = format!("valid keys of {name}: {}", valid_keys.join(", "));
            reader.report(Code::ConfigValue, Some(tree.span), message, Some(help));
            None
        }
    }
}

fn suggestion(section: &str, word: &str, valid_keys: &[&str]) -> String {
    let listed = format!("valid keys of {section}: {}", valid_keys.join(", "));
    match nearest(word, valid_keys.iter().copied()) {
        Some(similar) => format!("did you mean {similar}? {listed}"),
        None => listed,
    }
}

/// Replaces the root of a scope.
fn set_root(entry: &TreeEntry, full_key: &str, scope: Scope, reader: &mut LayerReader<'_>) {
    let expected = "a path that is absolute or begins with ~/";
    let location = match &entry.value.kind {
        TreeKind::Text(text) if text.contains('\0') => None,
        TreeKind::Text(text) => match text.strip_prefix("~/") {
            Some(inner) => Some(RootLocation::Home(inner.trim_start_matches('/').into())),
            None => parse_path(text, None).ok().map(RootLocation::Absolute),
        },
        _ => None,
    };
    let Some(location) = location else {
        let message = format!("{full_key} is {}; expected {expected}", entry.value.describe());
        return reader.report(Code::ConfigValue, Some(entry.value.span), message, None);
    };
    let root = RootSpec { scope, location, is_explicit: false };
    let roots = &mut reader.values().policy.scan.roots;
    match roots.iter_mut().find(|existing| existing.scope == scope) {
        Some(existing) => *existing = root,
        None => roots.push(root),
    }
    reader.record_origin("scan.roots", entry.span);
}

/// Disables the skills of disabled plugins. Installing plugins is not done here.
fn disable_plugins(tree: &ConfigTree, reader: &mut LayerReader<'_>) {
    let items = match &tree.kind {
        TreeKind::List(items) => items,
        TreeKind::Null => return,
        _ => {
            let message = format!("skills.plugins is {}; expected a list of plugins", tree.describe());
            let help = format!("valid keys of a plugin: {}", PLUGIN_KEYS.join(", "));
            return reader.report(Code::ConfigValue, Some(tree.span), message, Some(help));
        }
    };
    for item in items {
        apply_plugin(item, reader);
    }
}

fn apply_plugin(item: &ConfigTree, reader: &mut LayerReader<'_>) {
    let section = "skills.plugins";
    let Some(entries) = expect_table(item, "a plugin", &PLUGIN_KEYS, reader) else { return };
    for entry in entries {
        let full_key = format!("{section}.{}", entry.key);
        let expected = match (entry.key.as_str(), &entry.value.kind) {
            ("enabled", TreeKind::Bool(_)) | ("url" | "ref" | "name" | "installedAt", TreeKind::Text(_)) => {
                continue;
            }
            // Branches or tags such as 1.0 or 2024 are often not quoted.
            ("ref", TreeKind::Integer(_) | TreeKind::Fraction(_))
            | ("ref" | "name" | "installedAt", TreeKind::Null) => {
                continue;
            }
            ("enabled", _) => "true or false",
            ("url" | "ref" | "name" | "installedAt", _) => "text",
            _ => {
                reader.report_unknown(&full_key, entry, || suggestion(section, &entry.key, &PLUGIN_KEYS));
                continue;
            }
        };
        let message = format!("{full_key} is {}; expected {expected}", entry.value.describe());
        reader.report(Code::ConfigValue, Some(entry.value.span), message, None);
    }
    if item.get("url").is_none() {
        let message = "a plugin has no url".to_owned();
        reader.report(
            Code::ConfigValue,
            Some(item.span),
            message,
            Some("add a line such as url: https://example.com/skill.git".to_owned()),
        );
    }
    let disabled_entry = item.get("enabled").filter(|entry| entry.value.kind == TreeKind::Bool(false));
    if let (Some(disabled_entry), Some(name)) = (disabled_entry, plugin_name(item)) {
        let disabled = &mut reader.values().policy.selection.disabled;
        if !disabled.contains(&name) {
            disabled.push(name);
        }
        reader.record_origin("skills.disabled", disabled_entry.span);
    }
}

/// Returns the plugin's name, or the last part of its URL.
fn plugin_name(plugin: &ConfigTree) -> Option<String> {
    let text = |key| match &plugin.get(key)?.value.kind {
        TreeKind::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    };
    text("name").map(ToOwned::to_owned).or_else(|| {
        let url = text("url")?.trim_end_matches('/');
        let url = url.strip_suffix(".git").unwrap_or(url);
        let last = url.rsplit(['/', ':']).next()?;
        (!last.is_empty()).then(|| clip_for_display(last))
    })
}
