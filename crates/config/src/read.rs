//! One file over what is in force: each key by the table, and what is wrong by file, line and nearest match.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use prowess_format::suggest::nearest;
use prowess_format::{Code, Diagnostic, Place, Severity, Span};
use serde_json::Value as Json;

use super::keys::{KEYS, Key, key};
use super::narrow::Project;
use super::origin::{Layer, Origin};
use super::tree::{Entry, Kind, Tree, clipped};
use super::values::Values;
use prowess::Located;

/// The most that is said about one file.
const SAID_MAX: usize = 50;

/// What is in force so far, and what was said on the way.
pub(super) struct State {
    pub(super) values: Values,
    pub(super) origins: BTreeMap<&'static str, Origin>,
    pub(super) diagnostics: Vec<Located>,
}

/// Whose file it is, and so what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The user's or operator's own: it may set everything, and its mistakes are errors.
    Own,
    /// A project's: it may narrow, and its mistakes are warnings, lest it break the tool.
    Project,
}

impl Standing {
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::Own => Severity::Error,
            Self::Project => Severity::Warning,
        }
    }
}

/// Reads one file.
pub(super) struct Reader<'s> {
    state: &'s mut State,
    path: &'s Path,
    text: &'s str,
    layer: Layer,
    standing: Standing,
    seen: HashSet<&'static str>,
    said: usize,
}

impl<'s> Reader<'s> {
    pub(super) fn new(
        state: &'s mut State,
        path: &'s Path,
        text: &'s str,
        layer: Layer,
        standing: Standing,
    ) -> Self {
        Self { state, path, text, layer, standing, seen: HashSet::new(), said: 0 }
    }

    /// The values in force.
    pub(super) fn values(&mut self) -> &mut Values {
        &mut self.state.values
    }

    /// Says something about a span of the file.
    pub(super) fn say(&mut self, code: Code, span: Option<Span>, message: String, help: Option<String>) {
        let severity = if code == Code::ConfigWidens { Severity::Warning } else { self.standing.severity() };
        self.said += 1;
        if self.said > SAID_MAX {
            return;
        }
        let mut diagnostic = Diagnostic::new(code, severity, message);
        diagnostic.at = span.map(|span| Place::of(self.text.as_bytes(), span));
        diagnostic.help = help;
        self.state.diagnostics.push(Located::new(self.path, diagnostic));
    }

    /// Says how much was left unsaid.
    pub(super) fn finish(self) {
        let more = self.said.saturating_sub(SAID_MAX);
        if more > 0 {
            let message = format!("{more} more mistakes are not listed");
            let diagnostic = Diagnostic::new(Code::ConfigKey, self.standing.severity(), message);
            self.state.diagnostics.push(Located::new(self.path, diagnostic));
        }
    }

    /// A table of Prowess's own keys; `section` is its name, empty for the whole file.
    pub(super) fn table(&mut self, section: &str, tree: &Tree) {
        let entries = match &tree.kind {
            Kind::Table(entries) => entries,
            // A section whose lines are all commented out is nothing in YAML.
            Kind::Null => return,
            _ => {
                let name = if section.is_empty() { "the configuration" } else { section };
                let message = format!("{name} is {}, not a table", tree.shown());
                return self.say(Code::ConfigValue, Some(tree.span), message, Some(listed(section)));
            }
        };
        for entry in entries {
            let name = match section {
                "" => entry.key.clone(),
                section => format!("{section}.{}", entry.key),
            };
            if let Some(key) = key(&name) {
                self.set(key, &name, entry);
            } else if !inner(&name).is_empty() {
                self.table(&name, &entry.value);
            } else {
                let help = suggestion(section, &entry.key);
                self.unknown(&name, entry, help);
            }
        }
    }

    /// A key that is not known.
    pub(super) fn unknown(&mut self, written: &str, entry: &Entry, help: String) {
        let message = format!("unknown key {}", clipped(written));
        // A provider's key may stand there: the line is not shown.
        let secret = written.starts_with("chat.") || written.starts_with("embeddings.");
        let span = (!secret).then_some(entry.span);
        self.say(Code::ConfigKey, span, message, Some(help));
    }

    /// One value over the one in force. `written` is what the file calls the key.
    pub(super) fn set(&mut self, key: &'static Key, written: &str, entry: &Entry) {
        if !self.seen.insert(key.name) {
            let message = format!("{written} stands twice");
            return self.say(
                Code::ConfigSyntax,
                Some(entry.span),
                message,
                Some("delete one of them".to_owned()),
            );
        }
        let mut after = self.state.values.clone();
        if let Err(wrong) = key.field.read(&entry.value, &mut after) {
            let message = format!("{written} {}; it takes {}", wrong.what, key.takes());
            let help = wrong.help.or_else(|| mistaken(key, &entry.value));
            return self.say(Code::ConfigValue, wrong.span, message, help);
        }
        if self.standing == Standing::Project
            && let Err(why) = narrows(key, &self.state.values, &mut after)
        {
            let message = format!("a project may not set {written}{why}");
            let help = "set it in your own configuration if you want it".to_owned();
            return self.say(Code::ConfigWidens, Some(entry.span), message, Some(help));
        }
        self.state.values = after;
        self.came_from(key.name, entry.span);
    }

    /// Remembers where a value came from.
    pub(super) fn came_from(&mut self, key: &'static str, span: Span) {
        let line = Place::of(self.text.as_bytes(), span).line;
        let origin = Origin::File { layer: self.layer, path: self.path.to_owned(), line };
        self.state.origins.insert(key, origin);
    }
}

/// Whether a project may have this value; why not, to follow the key's name.
fn narrows(key: &Key, before: &Values, after: &mut Values) -> Result<(), String> {
    match key.project {
        Project::May => Ok(()),
        Project::MayNot => Err(String::new()),
        Project::Within(rule) => rule(before, after).map_err(|why| format!(" so: {why}")),
        Project::Narrow if key.field.width(after) <= key.field.width(before) => Ok(()),
        Project::Narrow => {
            let (now, then) = (bare(&key.field.write(before)), bare(&key.field.write(after)));
            Err(format!(" to {then}: {now} is in force, and a project can only narrow it"))
        }
    }
}

/// A value without its quotes.
fn bare(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Two keys that are called almost the same.
fn mistaken(key: &Key, value: &Tree) -> Option<String> {
    match (key.name, &value.kind) {
        ("skills.enabled" | "skills.disabled", Kind::Truth(_)) => {
            Some("to switch skills on or off as a whole, set enabled at the top".to_owned())
        }
        _ => None,
    }
}

/// The keys and sections that stand directly in a section.
fn inner(section: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = KEYS
        .iter()
        .filter_map(|key| match section {
            "" => Some(key.name),
            section => key.name.strip_prefix(section)?.strip_prefix('.'),
        })
        .map(|name| name.split_once('.').map_or(name, |(first, _)| first))
        .collect();
    names.dedup();
    names
}

fn listed(section: &str) -> String {
    let names = inner(section).join(", ");
    match section {
        "" => format!("the keys and sections are {names}"),
        section => format!("the keys of {section} are {names}"),
    }
}

/// The nearest key in the section, else the one of nearly that name in another, and what there is.
fn suggestion(section: &str, word: &str) -> String {
    let listed = listed(section);
    let near = nearest(word, inner(section)).map(|near| match section {
        "" => near.to_owned(),
        section => format!("{section}.{near}"),
    });
    let elsewhere = || {
        let last = |key: &'static Key| key.name.rsplit_once('.').map_or(key.name, |(_, last)| last);
        let near = nearest(word, KEYS.iter().map(last))?;
        KEYS.iter().find(|key| last(key) == near).map(|key| key.name.to_owned())
    };
    match near.or_else(elsewhere) {
        Some(near) => format!("did you mean {near}? {listed}"),
        None => listed,
    }
}
