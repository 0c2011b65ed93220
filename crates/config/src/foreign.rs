//! The files of two other systems, which name the same things differently.
//!
//! Document 002 keeps `skills:` in `~/.agent/config.yaml`, document 004 `[app.skills]` in the project's
//! `config.toml`. The rest of both files is somebody else's and is not looked at.

use prowess_format::Code;
use prowess_format::suggest::nearest;

use super::field::path_of;
use super::keys::key;
use super::read::Reader;
use super::tree::{Entry, Kind, Tree, clipped};
use prowess::policy::{RootPlace, RootSpec, Scope};

/// How a file names Prowess's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// As Prowess does.
    Prowess,
    /// As document 002 does.
    Harness,
    /// As document 004 does.
    Chat,
}

/// Document 002's names, and ours where it is the same thing. The last two are ours alone: the document has no word for
/// switching off a skill that is neither bundled nor a plugin.
const HARNESS: [(&str, Option<&str>); 8] = [
    ("plugins", None),
    ("pluginsDir", None),
    ("userDir", None),
    ("disabledBundled", Some("skills.disabled-bundled")),
    ("enabledBundled", Some("skills.enabled-bundled")),
    ("scriptTimeout", Some("run.script-timeout-ms")),
    ("disabled", Some("skills.disabled")),
    ("enabled", Some("skills.enabled")),
];

/// Document 004's names, and ours.
const CHAT: [(&str, Option<&str>); 5] = [
    ("enabled", Some("enabled")),
    ("directories", Some("scan.roots")),
    ("max_skills", Some("scan.max-skills")),
    ("max_skill_md_bytes", Some("limits.skill-md-bytes")),
    ("max_resource_bytes", Some("limits.resource-bytes")),
];

const PLUGIN: [&str; 5] = ["url", "ref", "name", "enabled", "installedAt"];

impl Dialect {
    /// Where in the file our part stands.
    pub(super) fn path(self) -> &'static [&'static str] {
        match self {
            Self::Prowess => &[],
            Self::Harness => &["skills"],
            Self::Chat => &["app", "skills"],
        }
    }

    /// Reads our part.
    pub(super) fn read(self, tree: &Tree, reader: &mut Reader<'_>) {
        match self {
            Self::Prowess => reader.table("", tree),
            Self::Harness => foreign(tree, "skills", &HARNESS, reader),
            Self::Chat => foreign(tree, "app.skills", &CHAT, reader),
        }
    }
}

fn foreign(tree: &Tree, section: &str, names: &[(&str, Option<&'static str>)], reader: &mut Reader<'_>) {
    let known = || names.iter().map(|(name, _)| *name);
    let Some(entries) = table(tree, section, &known().collect::<Vec<_>>(), reader) else { return };
    for entry in entries {
        let written = format!("{section}.{}", entry.key);
        match names.iter().find(|(name, _)| *name == entry.key) {
            Some((_, Some(ours))) => {
                if let Some(key) = key(ours) {
                    reader.set(key, &written, entry);
                }
            }
            Some(("plugins", None)) => {}
            Some(("pluginsDir", None)) => directory(entry, &written, Scope::Plugin, reader),
            Some(("userDir", None)) => directory(entry, &written, Scope::User, reader),
            _ => reader.unknown(&written, entry, guess(section, &entry.key, &known().collect::<Vec<_>>())),
        }
    }
    // They are off besides what is listed as disabled, wherever in the file that is.
    let plugins_of = |entry: &&Entry| entry.key == "plugins" && known().any(|name| name == "plugins");
    if let Some(entry) = entries.iter().find(plugins_of) {
        plugins(&entry.value, reader);
    }
}

/// The entries of a table; anything else but nothing is a mistake.
fn table<'t>(tree: &'t Tree, name: &str, known: &[&str], reader: &mut Reader<'_>) -> Option<&'t [Entry]> {
    match &tree.kind {
        Kind::Table(entries) => Some(entries),
        Kind::Null => None,
        _ => {
            let message = format!("{name} is {}, not a table", tree.shown());
            let help = format!("the keys of {name} are {}", known.join(", "));
            reader.say(Code::ConfigValue, Some(tree.span), message, Some(help));
            None
        }
    }
}

fn guess(section: &str, word: &str, known: &[&str]) -> String {
    let listed = format!("the keys of {section} are {}", known.join(", "));
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean {near}? {listed}"),
        None => listed,
    }
}

/// Moves the directory of a scope.
fn directory(entry: &Entry, written: &str, scope: Scope, reader: &mut Reader<'_>) {
    let takes = "a path that is absolute or begins with ~/";
    let place = match &entry.value.kind {
        Kind::Text(text) if text.contains('\0') => None,
        Kind::Text(text) => match text.strip_prefix("~/") {
            Some(inner) => Some(RootPlace::Home(inner.trim_start_matches('/').into())),
            None => path_of(text, None).ok().map(RootPlace::Absolute),
        },
        _ => None,
    };
    let Some(place) = place else {
        let message = format!("{written} is {}; it takes {takes}", entry.value.shown());
        return reader.say(Code::ConfigValue, Some(entry.value.span), message, None);
    };
    let root = RootSpec { scope, place, given: false };
    let roots = &mut reader.values().policy.scan.roots;
    match roots.iter_mut().find(|known| known.scope == scope) {
        Some(known) => *known = root,
        None => roots.push(root),
    }
    reader.came_from("scan.roots", entry.span);
}

/// Plugins that are off are off here, too; installing them is somebody else's work.
fn plugins(tree: &Tree, reader: &mut Reader<'_>) {
    let items = match &tree.kind {
        Kind::List(items) => items,
        Kind::Null => return,
        _ => {
            let message = format!("skills.plugins is {}; it takes a list of plugins", tree.shown());
            let help = format!("the keys of a plugin are {}", PLUGIN.join(", "));
            return reader.say(Code::ConfigValue, Some(tree.span), message, Some(help));
        }
    };
    for item in items {
        plugin(item, reader);
    }
}

fn plugin(item: &Tree, reader: &mut Reader<'_>) {
    let section = "skills.plugins";
    let Some(entries) = table(item, "a plugin", &PLUGIN, reader) else { return };
    for entry in entries {
        let written = format!("{section}.{}", entry.key);
        let takes = match (entry.key.as_str(), &entry.value.kind) {
            ("enabled", Kind::Truth(_)) | ("url" | "ref" | "name" | "installedAt", Kind::Text(_)) => continue,
            // A branch or tag called 1.0 or 2024 is easily left without quotes.
            ("ref", Kind::Whole(_) | Kind::Fraction(_)) | ("ref" | "name" | "installedAt", Kind::Null) => {
                continue;
            }
            ("enabled", _) => "true or false",
            ("url" | "ref" | "name" | "installedAt", _) => "text",
            _ => {
                reader.unknown(&written, entry, guess(section, &entry.key, &PLUGIN));
                continue;
            }
        };
        let message = format!("{written} is {}; it takes {takes}", entry.value.shown());
        reader.say(Code::ConfigValue, Some(entry.value.span), message, None);
    }
    if item.get("url").is_none() {
        let message = "a plugin has no url".to_owned();
        reader.say(
            Code::ConfigValue,
            Some(item.span),
            message,
            Some("add the line url: https://…".to_owned()),
        );
    }
    let off = item.get("enabled").filter(|entry| entry.value.kind == Kind::Truth(false));
    if let (Some(off), Some(name)) = (off, plugin_name(item)) {
        let disabled = &mut reader.values().policy.selection.disabled;
        if !disabled.contains(&name) {
            disabled.push(name);
        }
        reader.came_from("skills.disabled", off.span);
    }
}

/// The name it was given, else the last part of its URL.
fn plugin_name(plugin: &Tree) -> Option<String> {
    let text = |key| match &plugin.get(key)?.value.kind {
        Kind::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    };
    text("name").map(ToOwned::to_owned).or_else(|| {
        let url = text("url")?.trim_end_matches('/');
        let url = url.strip_suffix(".git").unwrap_or(url);
        let last = url.rsplit(['/', ':']).next()?;
        (!last.is_empty()).then(|| clipped(last))
    })
}
