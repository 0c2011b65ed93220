//! Applies one file to the current values, and reports problems with file, line and suggestion.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use prowess_format::suggest::nearest;
use prowess_format::{Code, Diagnostic, Location, Severity, Span};
use serde_json::Value as Json;

use super::keys::{ConfigKey, KEYS, find_key};
use super::narrow::ProjectRule;
use super::origin::{ConfigLayer, SettingOrigin};
use super::tree::{ConfigTree, TreeEntry, TreeKind, clip_for_display};
use super::values::ConfigValues;
use prowess::FileDiagnostic;

/// The maximum number of diagnostics about one file.
const DIAGNOSTICS_MAX: usize = 50;

/// The values and diagnostics so far.
pub(super) struct LoadState {
    pub(super) values: ConfigValues,
    pub(super) origins: BTreeMap<&'static str, SettingOrigin>,
    pub(super) diagnostics: Vec<FileDiagnostic>,
}

/// Whose file it is, which determines what it may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAuthority {
    /// A file of the user or operator: it may set everything, and its problems are errors.
    User,
    /// A project's file: it may only restrict values, and its problems are warnings, so that it cannot break
    /// the tool.
    Project,
}

impl FileAuthority {
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::User => Severity::Error,
            Self::Project => Severity::Warning,
        }
    }
}

/// Applies one file.
pub(super) struct LayerReader<'s> {
    state: &'s mut LoadState,
    path: &'s Path,
    text: &'s str,
    layer: ConfigLayer,
    authority: FileAuthority,
    keys_seen: HashSet<&'static str>,
    reported: usize,
}

impl<'s> LayerReader<'s> {
    pub(super) fn new(
        state: &'s mut LoadState,
        path: &'s Path,
        text: &'s str,
        layer: ConfigLayer,
        authority: FileAuthority,
    ) -> Self {
        Self { state, path, text, layer, authority, keys_seen: HashSet::new(), reported: 0 }
    }

    /// Returns the current values.
    pub(super) fn values(&mut self) -> &mut ConfigValues {
        &mut self.state.values
    }

    /// Reports a problem at a span of the file.
    pub(super) fn report(&mut self, code: Code, span: Option<Span>, message: String, help: Option<String>) {
        let severity = if code == Code::ConfigWidens { Severity::Warning } else { self.authority.severity() };
        self.reported += 1;
        if self.reported > DIAGNOSTICS_MAX {
            return;
        }
        let mut diagnostic = Diagnostic::new(code, severity, message);
        diagnostic.location = span.map(|span| Location::from_span(self.text.as_bytes(), span));
        diagnostic.help = help;
        self.state.diagnostics.push(FileDiagnostic::new(self.path, diagnostic));
    }

    /// Reports how many problems were omitted.
    pub(super) fn finish(self) {
        let omitted = self.reported.saturating_sub(DIAGNOSTICS_MAX);
        if omitted > 0 {
            let message = format!("{omitted} more problems are not listed");
            let diagnostic = Diagnostic::new(Code::ConfigKey, self.authority.severity(), message);
            self.state.diagnostics.push(FileDiagnostic::new(self.path, diagnostic));
        }
    }

    /// Applies a table of Prowess keys. `section` is its name; empty for the whole file.
    pub(super) fn apply_table(&mut self, section: &str, tree: &ConfigTree) {
        let entries = match &tree.kind {
            TreeKind::Table(entries) => entries,
            // In YAML, a section with only commented-out lines is null.
            TreeKind::Null => return,
            _ => {
                let name = if section.is_empty() { "the configuration" } else { section };
                let message = format!("{name} is {}, not a table", tree.describe());
                return self.report(Code::ConfigValue, Some(tree.span), message, Some(list_keys(section)));
            }
        };
        for entry in entries {
            let name = match section {
                "" => entry.key.clone(),
                section => format!("{section}.{}", entry.key),
            };
            if let Some(key) = find_key(&name) {
                self.set_key(key, &name, entry);
            } else if !child_names(&name).is_empty() {
                self.apply_table(&name, &entry.value);
            } else {
                self.report_unknown(&name, entry, || suggestion(section, &entry.key));
            }
        }
    }

    /// Reports an unknown key. `help` is called only if the problem is listed: finding a similar key takes a while.
    pub(super) fn report_unknown(
        &mut self,
        full_key: &str,
        entry: &TreeEntry,
        help: impl FnOnce() -> String,
    ) {
        if self.reported >= DIAGNOSTICS_MAX {
            self.reported += 1;
            return;
        }
        let message = format!("unknown key {}", clip_for_display(full_key));
        // Do not show the line: it may contain an API key.
        let may_be_secret = full_key.starts_with("chat.") || full_key.starts_with("embeddings.");
        let span = (!may_be_secret).then_some(entry.span);
        self.report(Code::ConfigKey, span, message, Some(help()));
    }

    /// Applies one value. `full_key` is the name of the key in the file.
    pub(super) fn set_key(&mut self, key: &'static ConfigKey, full_key: &str, entry: &TreeEntry) {
        if !self.keys_seen.insert(key.name) {
            let message = format!("duplicate key {full_key}");
            return self.report(
                Code::ConfigSyntax,
                Some(entry.span),
                message,
                Some("delete one of them".to_owned()),
            );
        }
        let mut after = self.state.values.clone();
        if let Err(invalid) = key.field.parse_into(&entry.value, &mut after) {
            let message = invalid.message(full_key, &key.expected());
            let help = invalid.help.or_else(|| similar_key_hint(key, &entry.value));
            return self.report(Code::ConfigValue, invalid.span, message, help);
        }
        if self.authority == FileAuthority::Project
            && let Err(reason) = check_project_value(key, &self.state.values, &mut after)
        {
            let message = format!("a project cannot set {full_key}{reason}");
            let help = "set it in your user configuration instead".to_owned();
            return self.report(Code::ConfigWidens, Some(entry.span), message, Some(help));
        }
        self.state.values = after;
        self.record_origin(key.name, entry.span);
    }

    pub(super) fn record_origin(&mut self, key: &'static str, span: Span) {
        let line = Location::from_span(self.text.as_bytes(), span).line;
        let origin = SettingOrigin::File { layer: self.layer, path: self.path.to_owned(), line };
        self.state.origins.insert(key, origin);
    }
}

/// Checks whether a project may set this value. The error follows the name of the key.
fn check_project_value(
    key: &ConfigKey,
    before: &ConfigValues,
    after: &mut ConfigValues,
) -> Result<(), String> {
    match key.project {
        ProjectRule::May => Ok(()),
        ProjectRule::MayNot => Err(String::new()),
        ProjectRule::Within(rule) => rule(before, after).map_err(|reason| format!(": {reason}")),
        ProjectRule::Narrow if key.field.permissiveness(after) <= key.field.permissiveness(before) => Ok(()),
        ProjectRule::Narrow => {
            let (current, requested) =
                (without_quotes(&key.field.to_json(before)), without_quotes(&key.field.to_json(after)));
            Err(format!(" to {requested}: it can only restrict the current value {current}"))
        }
    }
}

fn without_quotes(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Returns a hint for two keys with almost the same name.
fn similar_key_hint(key: &ConfigKey, value: &ConfigTree) -> Option<String> {
    match (key.name, &value.kind) {
        ("skills.enabled" | "skills.disabled", TreeKind::Bool(_)) => {
            Some("to enable or disable all skills, set the top-level key enabled".to_owned())
        }
        _ => None,
    }
}

/// Returns the names of the keys and sections directly in a section.
fn child_names(section: &str) -> Vec<&'static str> {
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

fn list_keys(section: &str) -> String {
    let names = child_names(section).join(", ");
    match section {
        "" => format!("valid keys and sections: {names}"),
        section => format!("valid keys of {section}: {names}"),
    }
}

/// Suggests the most similar key in the section or, failing that, in another one, and lists the valid keys.
fn suggestion(section: &str, word: &str) -> String {
    let listed = list_keys(section);
    let similar = nearest(word, child_names(section)).map(|similar| match section {
        "" => similar.to_owned(),
        section => format!("{section}.{similar}"),
    });
    let elsewhere = || {
        let last = |key: &'static ConfigKey| key.name.rsplit_once('.').map_or(key.name, |(_, last)| last);
        let similar = nearest(word, KEYS.iter().map(last))?;
        KEYS.iter().find(|key| last(key) == similar).map(|key| key.name.to_owned())
    };
    match similar.or_else(elsewhere) {
        Some(similar) => format!("did you mean {similar}? {listed}"),
        None => listed,
    }
}
