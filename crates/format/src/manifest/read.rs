//! Which fields there are, and whether the two that count are good.

use std::collections::HashSet;

use super::{COMMON_KEYS, Manifest, More, STANDARD_KEYS, Sink, TRIGGER_KEYS};
use crate::diagnostic::Code;
use crate::hidden;
use crate::manifest::fields;
use crate::name::{NameBreak, SkillName};
use crate::position::Span;
use crate::rules::{KnownKeys, Level, NameRule, Rules};
use crate::suggest::nearest;
use crate::yaml::{Kind, Node, Style, Value};

/// Reads the fields. `None` where it cannot load; the sink then has an error that says why.
pub(crate) fn read(
    node: &Node<'_>,
    folder: Option<&str>,
    rules: &Rules,
    sink: &mut Sink<'_>,
) -> Option<Manifest> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("the frontmatter is {}, not fields", node.noun());
        let help = "write it as lines of key: value, with name and description";
        sink.say(Level::Reject, Code::NotAMapping, node.span, message, help);
        return None;
    };
    duplicates(entries, rules, sink);
    let mut name = None;
    let mut description = None;
    let mut more = More::default();
    for (key, value) in entries {
        match key_text(key) {
            "name" => name = read_name(value, folder, rules, sink),
            "description" => description = read_description(value, rules, sink),
            text if rules.known_keys.has(text) => fields::read(text, value, rules, &mut more, sink),
            text => {
                more.other.push((text.into(), value.value()));
                unknown(text, key.span, rules, sink);
            }
        }
    }
    let is_missing = |field: &str| !entries.iter().any(|(key, _)| key_text(key) == field);
    let start = Span { start: node.span.start, end: node.span.start };
    if is_missing("name") {
        sink.say(Level::Reject, Code::MissingName, start, "name is missing", &missing_name_help(folder));
    }
    if is_missing("description") {
        let help = "add a line such as description: What it does. Use when …";
        sink.say(Level::Reject, Code::MissingDescription, start, "description is missing", help);
    }
    let more = (more != More::default()).then(|| Box::new(more));
    Some(Manifest { name: name?, description: description?, more })
}

impl KnownKeys {
    /// Whether a key is known.
    pub fn has(self, key: &str) -> bool {
        self.all().any(|known| known == key)
    }

    /// The known keys.
    pub fn all(self) -> impl Iterator<Item = &'static str> {
        let (standard, triggers, common): (usize, &[_], &[_]) = match self {
            Self::Basic => (2, &[], &[]),
            Self::Standard => (6, &[], &[]),
            Self::Triggers => (6, &TRIGGER_KEYS, &[]),
            Self::All => (6, &TRIGGER_KEYS, &COMMON_KEYS),
        };
        STANDARD_KEYS.into_iter().take(standard).chain(triggers.iter().copied()).chain(common.iter().copied())
    }
}

fn key_text<'n>(key: &'n Node<'_>) -> &'n str {
    match &key.kind {
        Kind::Scalar(text, _) => text,
        Kind::List(_) | Kind::Map(_) => "",
    }
}

fn missing_name_help(folder: Option<&str>) -> String {
    let name = folder.and_then(|folder| SkillName::parse(folder).ok()).map(|name| name.suggestion());
    format!("add the line name: {}", name.as_deref().unwrap_or("the-folder-name"))
}

fn duplicates(entries: &[(Node<'_>, Node<'_>)], rules: &Rules, sink: &mut Sink<'_>) {
    let mut seen = HashSet::with_capacity(entries.len());
    for (key, _) in entries {
        let text = key_text(key);
        if !seen.insert(text) {
            let message = format!("{} stands twice; the last one counts", hidden::shown(text));
            sink.say(rules.duplicate_keys, Code::DuplicateKey, key.span, message, "delete one of them");
        }
    }
}

fn unknown(key: &str, span: Span, rules: &Rules, sink: &mut Sink<'_>) {
    if rules.unknown_keys == Level::Ignore {
        return;
    }
    let help = match nearest(key, rules.known_keys.all()) {
        Some(known) => format!("did you mean {known}?"),
        None if KnownKeys::All.has(key) => "this preset does not read it".to_owned(),
        None => "put it under metadata, where every key is allowed".to_owned(),
    };
    sink.say(
        rules.unknown_keys,
        Code::UnknownKey,
        span,
        format!("unknown key {}", hidden::shown(key)),
        &help,
    );
}

/// The text of a scalar. Numbers and truth values count as text, with a warning where that is surprising.
pub(super) fn text<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.kind {
        Kind::Scalar(text, Style::Text) => Some(text),
        Kind::Scalar(text, Style::Plain) => (Value::plain(text) != Value::Null).then_some(text),
        Kind::List(_) | Kind::Map(_) => None,
    }
}

fn read_name(node: &Node<'_>, folder: Option<&str>, rules: &Rules, sink: &mut Sink<'_>) -> Option<SkillName> {
    let Some(raw) = text(node) else {
        let (code, message) = match node.kind {
            Kind::Scalar(..) => (Code::MissingName, "the name is empty".to_owned()),
            Kind::List(_) | Kind::Map(_) => (Code::NameType, format!("name is {}, not text", node.noun())),
        };
        sink.say(Level::Reject, code, node.span, message, &missing_name_help(folder));
        return None;
    };
    let name = match SkillName::parse(raw) {
        Ok(name) => name,
        Err(error) => {
            let code = match error {
                crate::NameError::Empty => Code::MissingName,
                crate::NameError::Endless(_) => Code::NameLong,
                crate::NameError::Hidden(_) => Code::HiddenText,
            };
            sink.say(Level::Reject, code, node.span, error.to_string(), &missing_name_help(folder));
            return None;
        }
    };
    not_quoted(node, "name", rules.name_form, sink);
    judge_form(&name, node.span, rules, sink);
    if let Some(folder) = folder
        && !name.is_folder(folder)
    {
        let message = format!("the name is {name}, the folder is {}", hidden::shown(folder));
        let folder = hidden::shown(folder);
        let help = match name.breaks(NameRule::Unicode).is_empty() {
            true => format!("rename the folder to {name}, or write name: {folder}"),
            false => format!("write name: {folder}"),
        };
        sink.say(rules.name_folder, Code::NameFolder, node.span, message, &help);
    }
    Some(name)
}

fn judge_form(name: &SkillName, span: Span, rules: &Rules, sink: &mut Sink<'_>) {
    let length = name.length();
    if let Some(limit) = rules.name_max
        && length > limit as usize
    {
        let message = format!("the name has {length} characters; at most {limit} are allowed");
        sink.say(rules.name_form, Code::NameLong, span, message, "shorten it, and the folder's name with it");
    }
    let breaks = name.breaks(rules.name);
    if breaks.is_empty() {
        return;
    }
    let reasons = breaks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", and ");
    let suggestion = name.suggestion();
    let letters = if rules.name == NameRule::Alphanumeric { "letters" } else { "lower-case letters" };
    let help = match suggestion.as_str() {
        "" => format!("use {letters}, digits and single hyphens"),
        suggestion => format!("write name: {suggestion} ({letters}, digits and single hyphens)"),
    };
    // A name that is a path is never let through: sooner or later somebody joins it to one.
    let path = breaks.contains(&NameBreak::Path);
    let (level, code) =
        if path { (Level::Reject, Code::NamePath) } else { (rules.name_form, Code::NameForm) };
    sink.say(level, code, span, format!("the name {name} is not well formed: {reasons}"), &help);
}

fn read_description(node: &Node<'_>, rules: &Rules, sink: &mut Sink<'_>) -> Option<Box<str>> {
    let help = "write description: What it does. Use when …";
    let joined;
    let description = match (&node.kind, text(node)) {
        (Kind::List(items), _)
            if rules.name_form != Level::Reject && items.iter().all(|item| text(item).is_some()) =>
        {
            sink.say(Level::Warn, Code::DescriptionType, node.span, "description is a list, not text", help);
            joined = items.iter().filter_map(text).collect::<Vec<_>>().join(" ");
            joined.trim()
        }
        (_, Some(text)) => text.trim(),
        (Kind::Scalar(..), None) => "",
        (_, None) => {
            let message = format!("description is {}, not text", node.noun());
            sink.say(Level::Reject, Code::DescriptionType, node.span, message, help);
            return None;
        }
    };
    if description.is_empty() {
        sink.say(Level::Reject, Code::MissingDescription, node.span, "description is empty", help);
        return None;
    }
    not_quoted(node, "description", Level::Warn, sink);
    if let Some((_, c)) = hidden::first(description) {
        let message = format!("the description has the hidden character \\u{{{:x}}}", u32::from(c));
        let help = "delete it: hidden text can carry orders that nobody reads";
        sink.say(Level::Reject, Code::HiddenText, node.span, message, help);
        return None;
    }
    let length = description.chars().count();
    if let Some(limit) = rules.description_max
        && length > limit as usize
    {
        let message = format!("the description has {length} characters; at most {limit} are allowed");
        let help = "say what it does and when to use it; the rest belongs into the body";
        sink.say(rules.description_long, Code::DescriptionLong, node.span, message, help);
    }
    Some(description.into())
}

/// A number where text is meant is taken as it is written, and said.
fn not_quoted(node: &Node<'_>, field: &str, level: Level, sink: &mut Sink<'_>) {
    let code = if field == "name" { Code::NameType } else { Code::DescriptionType };
    if let Value::Number(text) = node.value() {
        let (message, help) =
            (format!("{field} is a number, not text"), format!("write {field}: \"{text}\""));
        sink.say(level.min(Level::Warn), code, node.span, message, &help);
    } else if let Value::Bool(truth) = node.value() {
        let (message, help) =
            (format!("{field} is {truth}, not text"), format!("write {field}: \"{truth}\""));
        sink.say(level.min(Level::Warn), code, node.span, message, &help);
    }
}
