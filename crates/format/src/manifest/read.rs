//! Reading the fields of a manifest, and checking the two required ones.

use std::collections::HashSet;

use super::edits::{insert_line, quote_scalar, replace_scalar, scalar};
use super::{DiagnosticSink, Manifest, OptionalFields, STANDARD_KEYS, TRIGGER_KEYS};
use crate::diagnostic::{Code, Fix};
use crate::dialects::{self, Client, DialectKey};
use crate::hidden;
use crate::manifest::fields;
use crate::name::{NameViolation, SkillName};
use crate::position::Span;
use crate::rules::{KnownKeys, NameRule, RuleLevel, Rules};
use crate::suggest::nearest;
use crate::yaml::{Node, NodeKind, Quoting, Value};

/// The number of diagnostics after which unknown keys are not compared with known ones.
const SUGGESTIONS_MAX: usize = 50;

/// Reads the fields. Returns `None` if the skill cannot load; the sink then holds an error with the reason.
pub(crate) fn read_manifest(
    node: &Node<'_>,
    dir_name: Option<&str>,
    rules: &Rules,
    sink: &mut DiagnosticSink<'_>,
) -> Option<Manifest> {
    let NodeKind::Map(entries) = &node.kind else {
        let message = format!("the frontmatter is {}, not a mapping", node.describe());
        let help = "write it as key: value lines, with name and description";
        sink.report(RuleLevel::Reject, Code::NotAMapping, node.span, message, help);
        return None;
    };
    report_duplicates(entries, rules, sink);
    let mut name = None;
    let mut description = None;
    let mut more = OptionalFields::default();
    for (key, value) in entries {
        match key_text(key) {
            "name" => name = read_name(value, dir_name, rules, sink),
            "description" => description = read_description(value, rules, sink),
            text if rules.known_keys.contains(text) => {
                fields::read_field(text, value, rules, &mut more, sink)
            }
            text => {
                more.unknown.push((text.into(), value.value()));
                report_unknown_key(text, key, rules, sink);
            }
        }
    }
    let is_missing = |field: &str| !entries.iter().any(|(key, _)| key_text(key) == field);
    let start = Span { start: node.span.start, end: node.span.start };
    if is_missing("name") {
        name = read_missing_name(node, dir_name, rules, sink);
    }
    if is_missing("description") {
        let help = "add a line such as description: What it does. Use when …; only Claude Code and Copilot CLI load a skill without one";
        sink.report(RuleLevel::Reject, Code::MissingDescription, start, "description is missing", help);
    }
    more.add_argument_hint();
    let more = (more != OptionalFields::default()).then(|| Box::new(more));
    Some(Manifest { name: name?, description: description?, optional: more })
}

impl OptionalFields {
    /// Makes a hint of the names of arguments if there is no other.
    pub(super) fn add_argument_hint(&mut self) {
        if self.argument_hint.is_none() && !self.arguments.is_empty() {
            let names: Vec<_> = self.arguments.iter().map(|name| format!("[{name}]")).collect();
            self.argument_hint = Some(names.join(" ").into());
        }
    }
}

impl KnownKeys {
    /// Returns `true` if the key is known.
    pub fn contains(self, key: &str) -> bool {
        match self {
            Self::All => dialects::find_key(key).is_some(),
            Self::Basic | Self::Standard | Self::Triggers => self.iter().any(|known_key| known_key == key),
        }
    }

    /// Returns the known keys.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        let (standard, triggers, all): (usize, &[_], &[_]) = match self {
            Self::Basic => (2, &[], &[]),
            Self::Standard => (6, &[], &[]),
            Self::Triggers => (6, &TRIGGER_KEYS, &[]),
            Self::All => (0, &[], dialects::KEYS),
        };
        let keys = STANDARD_KEYS.into_iter().take(standard).chain(triggers.iter().copied());
        keys.chain(all.iter().map(|entry| entry.key))
    }
}

pub(super) fn key_text<'n>(key: &'n Node<'_>) -> &'n str {
    match &key.kind {
        NodeKind::Scalar(text, _) => text,
        NodeKind::List(_) | NodeKind::Map(_) => "",
    }
}

/// Returns a valid line with the name, for hints.
fn name_line(dir_name: Option<&str>) -> String {
    let name = dir_name.and_then(|dir_name| SkillName::parse(dir_name).ok()).map(|name| name.suggestion());
    format!("name: {}", name.as_deref().unwrap_or("the-directory-name"))
}

fn report_duplicates(entries: &[(Node<'_>, Node<'_>)], rules: &Rules, sink: &mut DiagnosticSink<'_>) {
    let mut keys = HashSet::with_capacity(entries.len());
    for (key, _) in entries {
        let text = key_text(key);
        if !keys.insert(text) {
            let message =
                format!("duplicate key {}; the last value is used", hidden::escape_for_display(text));
            sink.report(rules.duplicate_keys, Code::DuplicateKey, key.span, message, "delete one of them");
        }
    }
}

fn report_unknown_key(key: &str, node: &Node<'_>, rules: &Rules, sink: &mut DiagnosticSink<'_>) {
    if rules.unknown_keys == RuleLevel::Ignore {
        return;
    }
    // Comparing thousands of unknown keys with the table is slow, and most of these diagnostics are dropped.
    let compared = if sink.diagnostics.len() < SUGGESTIONS_MAX { usize::MAX } else { 0 };
    let candidates = rules.known_keys.iter().take(compared);
    let mut fix = None;
    let help = match dialects::find_key(key) {
        Some(entry) => unsupported_key_help(entry, rules),
        None => match nearest(key, candidates) {
            Some(similar) => {
                // Other differences may be intended.
                let is_spelling = key.to_lowercase().replace(['_', ' '], "-") == similar;
                fix = replace_scalar(node, similar, sink).filter(|_| is_spelling);
                format!("did you mean {similar}?")
            }
            None => "move it under metadata, where every key is allowed".to_owned(),
        },
    };
    sink.report_with_fix(
        rules.unknown_keys,
        Code::UnknownKey,
        node.span,
        format!("unknown key {}", hidden::escape_for_display(key)),
        &help,
        fix,
    );
}

/// Returns the help for a key that is known, but not under these rules. Never advises to move or rename a key that
/// a client uses, because that would disable it there.
fn unsupported_key_help(entry: &DialectKey, rules: &Rules) -> String {
    let reason = match rules.known_keys {
        KnownKeys::Standard => "the specification does not define it",
        KnownKeys::Basic | KnownKeys::Triggers | KnownKeys::All => "this preset does not support it",
    };
    match entry.clients {
        [] if entry.used_by_prowess => format!("{reason}; preset standard supports it"),
        [] => format!("{reason}; move it under metadata, where every key is allowed"),
        [client] => format!("{reason}, but {} uses it", client.title()),
        clients => format!("{reason}, but {} use it", dialects::client_list(clients)),
    }
}

/// Returns the text of a scalar, or `None` for null. Numbers and booleans count as text.
pub(super) fn scalar_text<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.kind {
        NodeKind::Scalar(text, Quoting::Quoted) => Some(text),
        NodeKind::Scalar(text, Quoting::Plain) => (Value::from_plain(text) != Value::Null).then_some(text),
        NodeKind::List(_) | NodeKind::Map(_) => None,
    }
}

fn read_name(
    node: &Node<'_>,
    dir_name: Option<&str>,
    rules: &Rules,
    sink: &mut DiagnosticSink<'_>,
) -> Option<SkillName> {
    let Some(raw) = scalar_text(node) else {
        let (code, message) = match node.kind {
            NodeKind::Scalar(..) => (Code::MissingName, "the name is empty".to_owned()),
            NodeKind::List(_) | NodeKind::Map(_) => {
                (Code::NameType, format!("name is {}, not text", node.describe()))
            }
        };
        sink.report(RuleLevel::Reject, code, node.span, message, &format!("write {}", name_line(dir_name)));
        return None;
    };
    let name = match SkillName::parse(raw) {
        Ok(name) => name,
        Err(error) => {
            let code = match error {
                crate::NameError::Empty => Code::MissingName,
                crate::NameError::TooLong(_) => Code::NameLong,
                crate::NameError::Hidden(_) => Code::HiddenText,
            };
            let help = format!("write {}", name_line(dir_name));
            sink.report(RuleLevel::Reject, code, node.span, error.to_string(), &help);
            return None;
        }
    };
    warn_if_not_quoted(node, "name", rules.name_form, sink);
    check_name_form(&name, Some(node), node.span, dir_name, rules, sink);
    if let Some(dir_name) = dir_name
        && !name.matches_dir_name(dir_name)
    {
        let message =
            format!("the name {name} does not match the directory {}", hidden::escape_for_display(dir_name));
        let dir_name = hidden::escape_for_display(dir_name);
        let help = match name.violations(NameRule::Unicode).is_empty() {
            true => format!("rename the directory to {name}, or write name: {dir_name}"),
            false => format!("write name: {dir_name}"),
        };
        // If the name is well formed, the directory could be renamed instead.
        let is_well_formed = name.violations(NameRule::Unicode).is_empty();
        let fix = if is_well_formed { None } else { rename(node, &dir_name, rules, sink) };
        sink.report_with_fix(rules.name_folder, Code::NameFolder, node.span, message, &help, fix);
    }
    Some(name)
}

/// Returns the name of the directory if the rules accept a skill without a name.
fn read_missing_name(
    map: &Node<'_>,
    dir_name: Option<&str>,
    rules: &Rules,
    sink: &mut DiagnosticSink<'_>,
) -> Option<SkillName> {
    let start = Span { start: map.span.start, end: map.span.start };
    let line = name_line(dir_name);
    let name = dir_name.and_then(|dir_name| SkillName::parse(dir_name).ok());
    let fix = name
        .as_ref()
        .filter(|name| is_well_formed(name, rules))
        .and_then(|name| insert_line(map, &format!("name: {}", scalar(name.as_str())), sink));
    let Some(name) = name.filter(|_| rules.name_missing != RuleLevel::Reject) else {
        let help = format!("add the line {line}");
        sink.report_with_fix(RuleLevel::Reject, Code::MissingName, start, "name is missing", &help, fix);
        return None;
    };
    let clients = dialects::client_list(&Client::requiring_name());
    let message = format!("name is missing; the skill is named {name} after its directory");
    let help = format!("add the line {line}; {clients} do not load a skill without a name");
    sink.report_with_fix(rules.name_missing, Code::MissingName, start, message, &help, fix);
    check_name_form(&name, None, start, dir_name, rules, sink);
    Some(name)
}

/// Returns an edit that writes another name, if the rules accept it.
fn rename(node: &Node<'_>, new_name: &str, rules: &Rules, sink: &DiagnosticSink<'_>) -> Option<Fix> {
    let name = SkillName::parse(new_name).ok().filter(|name| is_well_formed(name, rules))?;
    replace_scalar(node, &scalar(name.as_str()), sink)
}

fn is_well_formed(name: &SkillName, rules: &Rules) -> bool {
    name.violations(NameRule::Unicode).is_empty()
        && name.violations(rules.name).is_empty()
        && rules.name_max.is_none_or(|max| name.char_count() <= max as usize)
}

/// Reports a name that is too long or not well formed. `node` is the name in the file, if there is one.
fn check_name_form(
    name: &SkillName,
    node: Option<&Node<'_>>,
    span: Span,
    dir_name: Option<&str>,
    rules: &Rules,
    sink: &mut DiagnosticSink<'_>,
) {
    let length = name.char_count();
    if let Some(limit) = rules.name_max
        && length > limit as usize
    {
        let message = format!("the name has {length} characters; at most {limit} are allowed");
        sink.report(rules.name_form, Code::NameLong, span, message, "shorten it and the directory name");
    }
    let violations = name.violations(rules.name);
    if violations.is_empty() {
        return;
    }
    let reasons = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join(", and ");
    let suggestion = name.suggestion();
    let letters = if rules.name == NameRule::Alphanumeric { "letters" } else { "lower-case letters" };
    let help = match suggestion.as_str() {
        "" => format!("use {letters}, digits and single hyphens"),
        suggestion => format!("write name: {suggestion} ({letters}, digits and single hyphens)"),
    };
    // A name that could be a path is always rejected: some code may join it to one.
    let may_be_path = violations.contains(&NameViolation::Path);
    let (level, code) =
        if may_be_path { (RuleLevel::Reject, Code::NamePath) } else { (rules.name_form, Code::NameForm) };
    let message = format!("the name {name} is not well formed: {reasons}");
    // With a name other than that of the directory, the directory would have to be renamed, too.
    let suggestion = suggestion.trim_end_matches('-');
    let fix = node
        .filter(|_| dir_name.is_none_or(|dir_name| dir_name == suggestion))
        .and_then(|node| rename(node, suggestion, rules, sink));
    sink.report_with_fix(level, code, span, message, &help, fix);
}

pub(super) fn read_description(
    node: &Node<'_>,
    rules: &Rules,
    sink: &mut DiagnosticSink<'_>,
) -> Option<Box<str>> {
    let help = "write description: What it does. Use when …";
    let joined;
    let description = match (&node.kind, scalar_text(node)) {
        (NodeKind::List(items), _)
            if rules.name_form != RuleLevel::Reject
                && items.iter().all(|item| scalar_text(item).is_some()) =>
        {
            sink.report(
                RuleLevel::Warn,
                Code::DescriptionType,
                node.span,
                "description is a list, not text",
                help,
            );
            joined = items.iter().filter_map(scalar_text).collect::<Vec<_>>().join(" ");
            joined.trim()
        }
        (_, Some(text)) => text.trim(),
        (NodeKind::Scalar(..), None) => "",
        (_, None) => {
            let message = format!("description is {}, not text", node.describe());
            sink.report(RuleLevel::Reject, Code::DescriptionType, node.span, message, help);
            return None;
        }
    };
    if description.is_empty() {
        sink.report(RuleLevel::Reject, Code::MissingDescription, node.span, "description is empty", help);
        return None;
    }
    warn_if_not_quoted(node, "description", RuleLevel::Warn, sink);
    if let Some((_, c)) = hidden::find_hidden(description) {
        let message = format!("the description contains the hidden character \\u{{{:x}}}", u32::from(c));
        let help = "delete it: hidden text can carry instructions for the model";
        sink.report(RuleLevel::Reject, Code::HiddenText, node.span, message, help);
        return None;
    }
    let length = description.chars().count();
    if let Some(limit) = rules.description_max
        && length > limit as usize
    {
        let message = format!("the description has {length} characters; at most {limit} are allowed");
        let help = "describe what it does and when to use it; move the rest into the body";
        sink.report(rules.description_long, Code::DescriptionLong, node.span, message, help);
    }
    Some(description.into())
}

/// Warns if a field is an unquoted number or boolean; its text is used as written.
fn warn_if_not_quoted(node: &Node<'_>, field: &str, level: RuleLevel, sink: &mut DiagnosticSink<'_>) {
    let code = if field == "name" { Code::NameType } else { Code::DescriptionType };
    let (kind, text) = match node.value() {
        Value::Number(text) => ("a number".to_owned(), text),
        Value::Bool(value) => (value.to_string(), value.to_string().into()),
        Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => return,
    };
    let (message, help) = (format!("{field} is {kind}, not text"), format!("write {field}: \"{text}\""));
    let fix = quote_scalar(node, sink);
    sink.report_with_fix(level.min(RuleLevel::Warn), code, node.span, message, &help, fix);
}
