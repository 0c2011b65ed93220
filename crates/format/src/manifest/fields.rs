//! The fields besides name and description. A field of the wrong form is said and left out; the skill still loads
//! unless the rules are strict about it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::read::text;
use super::{More, Sink, Triggers};
use crate::diagnostic::Code;
use crate::hidden;
use crate::rules::{Level, Rules};
use crate::yaml::{Kind, Node, Value};

/// The longest `compatibility`, in characters.
const COMPATIBILITY_MAX: usize = 500;

/// The longest trigger pattern, in characters.
const PATTERN_MAX: usize = 1_000;

/// Reads one field into `more`.
pub(super) fn read(key: &str, node: &Node<'_>, rules: &Rules, more: &mut More, sink: &mut Sink<'_>) {
    // `license:` with nothing behind it is the same as no license.
    if matches!(&node.kind, Kind::Scalar(..)) && text(node).is_none() && key != "compatibility" {
        return;
    }
    let mut field = Field { key, node, sink, level: rules.field_form, duplicates: rules.duplicate_keys };
    match key {
        "license" => more.license = field.text(),
        "compatibility" => more.compatibility = field.compatibility(),
        "metadata" => more.metadata = field.metadata(),
        "allowed-tools" => more.allowed_tools = field.tools(),
        "version" => more.version = field.version(),
        "toolsets" => more.toolsets = field.toolsets(),
        "scripts" => more.scripts = field.scripts(),
        "triggers" => more.triggers = field.triggers(),
        "default_enabled" => more.default_enabled = field.truth(),
        "brief_description" => more.brief_description = field.visible_text(),
        "disable-model-invocation" => more.disable_model_invocation = field.truth().unwrap_or_default(),
        "user-invocable" => more.user_invocable = field.truth(),
        "argument-hint" => more.argument_hint = field.hint(),
        _ => more.other.push((key.into(), node.value())),
    }
}

struct Field<'f, 's> {
    key: &'f str,
    node: &'f Node<'f>,
    sink: &'f mut Sink<'s>,
    level: Level,
    duplicates: Level,
}

impl Field<'_, '_> {
    fn wrong(&mut self, wanted: &str, help: &str) {
        let message = format!("{} is {}, not {wanted}", self.key, self.node.noun());
        self.sink.say(self.level, Code::FieldForm, self.node.span, message, help);
    }

    fn text(&mut self) -> Option<Box<str>> {
        match text(self.node) {
            Some(text) => Some(text.trim().into()),
            None => {
                self.wrong("text", "write it on one line, between quotes");
                None
            }
        }
    }

    /// Text that a model is shown: nothing hidden.
    fn visible_text(&mut self) -> Option<Box<str>> {
        let text = self.text()?;
        if let Some((_, c)) = hidden::first(&text) {
            let message = format!("{} has the hidden character \\u{{{:x}}}", self.key, u32::from(c));
            self.sink.say(Level::Reject, Code::HiddenText, self.node.span, message, "delete it");
            return None;
        }
        Some(text)
    }

    fn compatibility(&mut self) -> Option<Box<str>> {
        let value = match &self.node.kind {
            Kind::Scalar(..) => Box::<str>::from(text(self.node).unwrap_or_default().trim()),
            Kind::List(_) | Kind::Map(_) => return self.text(),
        };
        let length = value.chars().count();
        if length == 0 || length > COMPATIBILITY_MAX {
            let message =
                format!("compatibility has {length} characters; 1 to {COMPATIBILITY_MAX} are allowed");
            self.sink.say(
                self.level,
                Code::FieldLong,
                self.node.span,
                message,
                "say it shorter, or leave it out",
            );
        }
        (length > 0).then_some(value)
    }

    fn metadata(&mut self) -> Vec<(Box<str>, Box<str>)> {
        let Kind::Map(entries) = &self.node.kind else {
            self.wrong("a mapping", "write metadata: and below it, indented, lines of key: value");
            return Vec::new();
        };
        let mut metadata: Vec<(Box<str>, Box<str>)> = Vec::with_capacity(entries.len());
        let mut places: HashMap<Box<str>, usize> = HashMap::with_capacity(entries.len());
        for (key, value) in entries {
            let Kind::Scalar(key, _) = &key.kind else { continue };
            let text = metadata_text(value);
            // A list of words is common and understood; the specification allows text only.
            if text.is_none() || (self.level == Level::Reject && matches!(value.kind, Kind::List(_))) {
                let message = format!("metadata.{} is {}, not text", hidden::shown(key), value.noun());
                self.sink.say(self.level, Code::FieldForm, value.span, message, "metadata maps text to text");
            }
            let Some(text) = text else { continue };
            match places.entry(key.as_ref().into()) {
                Entry::Vacant(place) => {
                    place.insert(metadata.len());
                    metadata.push((key.as_ref().into(), text));
                }
                Entry::Occupied(place) => {
                    let message =
                        format!("metadata.{} stands twice; the last one counts", hidden::shown(key));
                    self.sink.say(
                        self.duplicates,
                        Code::DuplicateKey,
                        value.span,
                        message,
                        "delete one of them",
                    );
                    metadata.get_mut(*place.get()).into_iter().for_each(|entry| entry.1 = text.clone());
                }
            }
        }
        metadata
    }

    /// A space- or comma-separated string, or a list. Commas and spaces inside parentheses do not separate. Where the
    /// form is enforced, only spaces may separate, as the specification says.
    fn tools(&mut self) -> Option<Vec<Box<str>>> {
        let help = "write allowed-tools: Read Bash(git:*)";
        match &self.node.kind {
            Kind::Scalar(text, _) => {
                let tools = split_tools(text, |c| c.is_whitespace() || c == ',');
                if self.level == Level::Reject && tools != split_tools(text, char::is_whitespace) {
                    let message = "allowed-tools is separated by commas, not by spaces";
                    self.sink.say(self.level, Code::FieldForm, self.node.span, message, help);
                }
                Some(tools)
            }
            Kind::List(items) if items.iter().all(|item| text(item).is_some()) => {
                if self.level == Level::Reject {
                    self.wrong("text", help);
                }
                Some(items.iter().filter_map(text).map(|text| text.trim().into()).collect())
            }
            Kind::List(_) | Kind::Map(_) => {
                self.wrong("text or a list of texts", help);
                None
            }
        }
    }

    fn version(&mut self) -> Option<Box<str>> {
        let version = self.text()?;
        if !is_semantic(&version) {
            let message = format!("version {} is not of the form 1.2.3", hidden::shown(&version));
            self.sink.say(self.level, Code::VersionForm, self.node.span, message, "write version: 1.0.0");
        }
        Some(version)
    }

    fn toolsets(&mut self) -> Vec<Box<str>> {
        let toolsets = self.texts();
        let sound = |toolset: &str| {
            let (path, export) = toolset.split_once(':').unwrap_or((toolset, "program"));
            let inside = !path.is_empty()
                && !path.starts_with('/')
                && !path.split(['/', '\\']).any(|part| part == "..");
            inside
                && !export.is_empty()
                && export.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        };
        toolsets
            .into_iter()
            .filter(|toolset| {
                let sound = sound(toolset);
                if !sound {
                    let message =
                        format!("toolset {} is not of the form path:Export", hidden::shown(toolset));
                    let help =
                        "write a path inside the skill and an export, such as toolsets/index:MyToolset";
                    self.sink.say(self.level, Code::ToolsetForm, self.node.span, message, help);
                }
                sound
            })
            .collect()
    }

    fn scripts(&mut self) -> Vec<Value> {
        match self.node.value() {
            Value::List(scripts) => scripts,
            single => vec![single],
        }
    }

    fn triggers(&mut self) -> Option<Triggers> {
        let Kind::Map(entries) = &self.node.kind else {
            self.wrong("a mapping", "write triggers: and below it keywords, verbs or patterns, each a list");
            return None;
        };
        let mut triggers = Triggers::default();
        for (key, value) in entries {
            let Kind::Scalar(key, _) = &key.kind else { continue };
            let mut field = Field {
                key: &format!("triggers.{key}"),
                node: value,
                sink: self.sink,
                level: self.level,
                duplicates: self.duplicates,
            };
            match key.as_ref() {
                "keywords" => triggers.keywords = field.texts(),
                "verbs" => triggers.verbs = field.texts(),
                "patterns" => triggers.patterns = field.patterns(),
                other => {
                    let message = format!("unknown trigger {}", hidden::shown(other));
                    let level = self.level.min(Level::Warn);
                    self.sink.say(
                        level,
                        Code::TriggerForm,
                        value.span,
                        message,
                        "keywords, verbs and patterns are known",
                    );
                }
            }
        }
        Some(triggers)
    }

    fn patterns(&mut self) -> Vec<Box<str>> {
        let mut patterns = self.texts();
        patterns.retain(|pattern| {
            let length = pattern.chars().count();
            let short = length <= PATTERN_MAX;
            if !short {
                let message = format!("a pattern has {length} characters; at most {PATTERN_MAX} are allowed");
                self.sink.say(
                    self.level.min(Level::Warn),
                    Code::TriggerForm,
                    self.node.span,
                    message,
                    "shorten it",
                );
            }
            short
        });
        patterns
    }

    /// A list of texts; a single text is a list of one.
    fn texts(&mut self) -> Vec<Box<str>> {
        match &self.node.kind {
            Kind::Scalar(..) => self.text().into_iter().filter(|text| !text.is_empty()).collect(),
            Kind::List(items) if items.iter().all(|item| text(item).is_some()) => items
                .iter()
                .filter_map(text)
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(Into::into)
                .collect(),
            Kind::List(_) | Kind::Map(_) => {
                self.wrong("a list of texts", "write it as [one, two]");
                Vec::new()
            }
        }
    }

    fn truth(&mut self) -> Option<bool> {
        match self.node.value() {
            Value::Bool(truth) => Some(truth),
            Value::Text(text) if matches!(text.as_ref(), "true" | "yes" | "on") => Some(true),
            Value::Text(text) if matches!(text.as_ref(), "false" | "no" | "off") => Some(false),
            _ => {
                self.wrong("true or false", "write true or false");
                None
            }
        }
    }

    /// `[file] [mode]` is meant as it is written, and YAML reads `[file]` as a list.
    fn hint(&mut self) -> Option<Box<str>> {
        match &self.node.kind {
            Kind::List(items) => {
                Some(format!("[{}]", items.iter().filter_map(text).collect::<Vec<_>>().join(", ")).into())
            }
            Kind::Scalar(..) => self.text(),
            Kind::Map(_) => {
                self.wrong("text", "write it between quotes");
                None
            }
        }
    }
}

/// A scalar as text, a list of scalars as words: `tags: [a, b]` is common.
fn metadata_text(node: &Node<'_>) -> Option<Box<str>> {
    match &node.kind {
        Kind::Scalar(..) => Some(text(node).unwrap_or_default().trim().into()),
        Kind::List(items) => {
            let words = items.iter().map(text).collect::<Option<Vec<_>>>()?;
            Some(words.join(" ").into())
        }
        Kind::Map(_) => None,
    }
}

fn split_tools(text: &str, separates: impl Fn(char) -> bool) -> Vec<Box<str>> {
    let mut depth = 0usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && separates(c)
    })
    .filter(|tool| !tool.is_empty())
    .map(Into::into)
    .collect()
}

/// `1.2.3`, with pre-release and build as they may follow.
fn is_semantic(version: &str) -> bool {
    let (version, build) =
        version.split_once('+').map_or((version, None), |(core, build)| (core, Some(build)));
    let (core, pre) = version.split_once('-').map_or((version, None), |(core, pre)| (core, Some(pre)));
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let words = |text: Option<&str>| text.is_none_or(|text| text.split('.').all(word));
    core.split('.').count() == 3 && core.split('.').all(number) && words(pre) && words(build)
}
