//! Optional fields. A field of the wrong type is reported and left out; the skill still loads unless the rules
//! are strict.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::known_field::{
    ARGUMENT_NAME_MAX, ARGUMENTS_MAX, CLIENT_METADATA, COMPATIBILITY_MAX, KnownField, PATH_MAX, PATHS_MAX,
    PATTERN_MAX,
};
use super::read::scalar_text;
use super::{DiagnosticSink, OpenClawRequires, OptionalFields, Triggers};
use crate::diagnostic::Code;
use crate::everyday::is_everyday_keyword;
use crate::hidden;
use crate::rules::{RuleLevel, Rules};
use crate::yaml::{Node, NodeKind, Value};

/// The entries of `metadata` in which OpenClaw reads what a skill requires.
const OPENCLAW_METADATA: [&str; 3] = ["openclaw", "clawdbot", "moltbot"];

/// The maximum number of commands in a list of `metadata.openclaw.requires`.
const COMMANDS_MAX: usize = 64;

/// Reads one field into `optional`.
pub(super) fn read_field(
    key: &str,
    node: &Node<'_>,
    rules: &Rules,
    optional: &mut OptionalFields,
    sink: &mut DiagnosticSink<'_>,
) {
    // `license:` without a value is the same as no license.
    if matches!(&node.kind, NodeKind::Scalar(..)) && scalar_text(node).is_none() && key != "compatibility" {
        return;
    }
    let mut field = Field { key, node, sink, level: rules.field_form, duplicates: rules.duplicate_keys };
    let Some(known) = KnownField::find(key) else {
        return optional.unknown.push((key.into(), node.value()));
    };
    match known {
        // Read before, because they are required.
        KnownField::Name | KnownField::Description => {}
        KnownField::License => optional.license = field.text(),
        KnownField::Compatibility => optional.compatibility = field.compatibility(),
        KnownField::Metadata => {
            optional.openclaw = field.openclaw_requires();
            optional.metadata = field.metadata();
        }
        KnownField::AllowedTools => optional.allowed_tools = field.allowed_tools(),
        KnownField::Version => optional.version = field.version(),
        KnownField::Toolsets => optional.toolsets = field.toolsets(),
        KnownField::Scripts => optional.scripts = field.scripts(),
        KnownField::Triggers => optional.triggers = field.triggers(),
        KnownField::DefaultEnabled => optional.default_enabled = field.boolean(),
        KnownField::BriefDescription => optional.brief_description = field.visible_text(),
        KnownField::DisableModelInvocation => {
            optional.disable_model_invocation = field.boolean().unwrap_or_default();
        }
        KnownField::UserInvocable => optional.user_invocable = field.boolean(),
        KnownField::ArgumentHint => optional.argument_hint = field.argument_hint(),
        KnownField::Arguments => optional.arguments = field.argument_names(),
        KnownField::WhenToUse => optional.when_to_use = field.visible_text(),
        KnownField::Paths => optional.paths = field.paths(),
        // Claude Code ignores any other value.
        KnownField::Context => optional.fork = scalar_text(node) == Some("fork"),
        KnownField::Model => {
            optional.model = scalar_text(node).filter(|model| *model != "inherit").map(Into::into);
        }
    }
}

struct Field<'f, 's> {
    key: &'f str,
    node: &'f Node<'f>,
    sink: &'f mut DiagnosticSink<'s>,
    level: RuleLevel,
    duplicates: RuleLevel,
}

impl Field<'_, '_> {
    fn report_type(&mut self, expected: &str, help: &str) {
        let message = format!("{} is {}, not {expected}", self.key, self.node.describe());
        self.sink.report(self.level, Code::FieldForm, self.node.span, message, help);
    }

    fn text(&mut self) -> Option<Box<str>> {
        match scalar_text(self.node) {
            Some(text) => Some(text.trim().into()),
            None => {
                self.report_type("text", "write it on one line, in quotes");
                None
            }
        }
    }

    /// Text that is shown to a model, without hidden characters.
    fn visible_text(&mut self) -> Option<Box<str>> {
        let text = self.text()?;
        if let Some((_, c)) = hidden::find_hidden(&text) {
            let message = format!("{} contains the hidden character \\u{{{:x}}}", self.key, u32::from(c));
            self.sink.report(RuleLevel::Reject, Code::HiddenText, self.node.span, message, "delete it");
            return None;
        }
        Some(text)
    }

    fn compatibility(&mut self) -> Option<Box<str>> {
        let value = match &self.node.kind {
            NodeKind::Scalar(..) => Box::<str>::from(scalar_text(self.node).unwrap_or_default().trim()),
            NodeKind::List(_) | NodeKind::Map(_) => return self.text(),
        };
        let length = value.chars().count();
        if length == 0 || length > COMPATIBILITY_MAX {
            let message =
                format!("compatibility has {length} characters; 1 to {COMPATIBILITY_MAX} are allowed");
            self.sink.report(
                self.level,
                Code::FieldLong,
                self.node.span,
                message,
                "shorten it, or remove it",
            );
        }
        (length > 0).then_some(value)
    }

    fn metadata(&mut self) -> Vec<(Box<str>, Box<str>)> {
        let NodeKind::Map(entries) = &self.node.kind else {
            self.report_type("a mapping", "write metadata: followed by indented key: value lines");
            return Vec::new();
        };
        let mut metadata: Vec<(Box<str>, Box<str>)> = Vec::with_capacity(entries.len());
        let mut indexes: HashMap<Box<str>, usize> = HashMap::with_capacity(entries.len());
        for (key, value) in entries {
            let NodeKind::Scalar(key, _) = &key.kind else { continue };
            if self.level != RuleLevel::Reject
                && CLIENT_METADATA.contains(&key.as_ref())
                && matches!(value.kind, NodeKind::Map(_))
            {
                continue;
            }
            let text = metadata_text(value);
            // A list of words is common and understood, although the specification allows text only.
            if text.is_none() || (self.level == RuleLevel::Reject && matches!(value.kind, NodeKind::List(_)))
            {
                let message =
                    format!("metadata.{} is {}, not text", hidden::escape_for_display(key), value.describe());
                self.sink.report(
                    self.level,
                    Code::FieldForm,
                    value.span,
                    message,
                    "metadata maps text to text",
                );
            }
            let Some(text) = text else { continue };
            match indexes.entry(key.as_ref().into()) {
                Entry::Vacant(slot) => {
                    slot.insert(metadata.len());
                    metadata.push((key.as_ref().into(), text));
                }
                Entry::Occupied(slot) => {
                    let message = format!(
                        "duplicate key metadata.{}; the last value is used",
                        hidden::escape_for_display(key)
                    );
                    self.sink.report(
                        self.duplicates,
                        Code::DuplicateKey,
                        value.span,
                        message,
                        "delete one of them",
                    );
                    metadata.get_mut(*slot.get()).into_iter().for_each(|entry| entry.1 = text.clone());
                }
            }
        }
        metadata
    }

    /// Reads the commands of `metadata.openclaw.requires`. A part with another form is ignored, as OpenClaw does.
    fn openclaw_requires(&self) -> OpenClawRequires {
        let requires = OPENCLAW_METADATA
            .iter()
            .find_map(|name| map_value(self.node, name))
            .and_then(|section| map_value(section, "requires"));
        let Some(requires) = requires else { return OpenClawRequires::default() };
        let list = |name: &str| {
            let NodeKind::List(items) = &map_value(requires, name)?.kind else { return None };
            let names = items.iter().filter_map(scalar_text).map(str::trim).filter(|name| !name.is_empty());
            Some(names.take(COMMANDS_MAX).map(Into::into).collect())
        };
        OpenClawRequires {
            bins: list("bins").unwrap_or_default(),
            any_bins: list("anyBins").unwrap_or_default(),
        }
    }

    /// Accepts a string separated by spaces or commas, or a list. Separators inside parentheses are ignored.
    /// With [`RuleLevel::Reject`], only spaces may separate, as in the specification.
    fn allowed_tools(&mut self) -> Option<Vec<Box<str>>> {
        let help = "write allowed-tools: Read Bash(git:*)";
        match &self.node.kind {
            NodeKind::Scalar(text, _) => {
                let tools = split_tools(text, |c| c.is_whitespace() || c == ',');
                if self.level == RuleLevel::Reject && tools != split_tools(text, char::is_whitespace) {
                    let message = "allowed-tools is separated by commas instead of spaces";
                    self.sink.report(self.level, Code::FieldForm, self.node.span, message, help);
                }
                Some(tools)
            }
            NodeKind::List(items) if items.iter().all(|item| scalar_text(item).is_some()) => {
                if self.level == RuleLevel::Reject {
                    self.report_type("text", help);
                }
                Some(items.iter().filter_map(scalar_text).map(|text| text.trim().into()).collect())
            }
            NodeKind::List(_) | NodeKind::Map(_) => {
                self.report_type("text or a list of strings", help);
                None
            }
        }
    }

    fn version(&mut self) -> Option<Box<str>> {
        let version = self.text()?;
        if !is_semantic_version(&version) {
            let message =
                format!("version {} does not have the form 1.2.3", hidden::escape_for_display(&version));
            self.sink.report(self.level, Code::VersionForm, self.node.span, message, "write version: 1.0.0");
        }
        Some(version)
    }

    fn toolsets(&mut self) -> Vec<Box<str>> {
        let toolsets = self.string_list();
        let is_valid = |toolset: &str| {
            let (path, export) = toolset.split_once(':').unwrap_or((toolset, "program"));
            let is_inside = !path.is_empty()
                && !path.starts_with('/')
                && !path.split(['/', '\\']).any(|part| part == "..");
            is_inside
                && !export.is_empty()
                && export.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        };
        toolsets
            .into_iter()
            .filter(|toolset| {
                let valid = is_valid(toolset);
                if !valid {
                    let message = format!(
                        "toolset {} does not have the form path:Export",
                        hidden::escape_for_display(toolset)
                    );
                    let help =
                        "write a path inside the skill and an export, such as toolsets/index:MyToolset";
                    self.sink.report(self.level, Code::ToolsetForm, self.node.span, message, help);
                }
                valid
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
        let NodeKind::Map(entries) = &self.node.kind else {
            self.report_type(
                "a mapping",
                "write triggers: with the lists keywords, verbs or patterns below it",
            );
            return None;
        };
        let mut triggers = Triggers::default();
        for (key, value) in entries {
            let NodeKind::Scalar(key, _) = &key.kind else { continue };
            let mut field = Field {
                key: &format!("triggers.{key}"),
                node: value,
                sink: self.sink,
                level: self.level,
                duplicates: self.duplicates,
            };
            match key.as_ref() {
                "keywords" => triggers.keywords = field.trigger_words(),
                "verbs" => triggers.verbs = field.trigger_words(),
                "patterns" => triggers.patterns = field.patterns(),
                unknown => {
                    let message = format!("unknown trigger {}", hidden::escape_for_display(unknown));
                    let level = self.level.min(RuleLevel::Warn);
                    self.sink.report(
                        level,
                        Code::TriggerForm,
                        value.span,
                        message,
                        "use keywords, verbs or patterns",
                    );
                }
            }
        }
        Some(triggers)
    }

    /// Reads keywords or verbs, and reports those that would match messages of any kind.
    fn trigger_words(&mut self) -> Vec<Box<str>> {
        let words = self.string_list();
        let everyday: Vec<_> = words
            .iter()
            .filter(|word| is_everyday_keyword(word))
            .map(|word| hidden::escape_for_display(word))
            .collect();
        if !everyday.is_empty() {
            let message =
                format!("{} contains everyday words, which are ignored: {}", self.key, everyday.join(", "));
            self.sink.report(
                self.level.min(RuleLevel::Warn),
                Code::TriggerEveryday,
                self.node.span,
                message,
                "use words that only messages for this skill contain",
            );
        }
        words
    }

    fn patterns(&mut self) -> Vec<Box<str>> {
        let mut patterns = self.string_list();
        patterns.retain(|pattern| {
            let length = pattern.chars().count();
            let is_short_enough = length <= PATTERN_MAX;
            if !is_short_enough {
                let message = format!("a pattern has {length} characters; at most {PATTERN_MAX} are allowed");
                self.sink.report(
                    self.level.min(RuleLevel::Warn),
                    Code::TriggerForm,
                    self.node.span,
                    message,
                    "shorten it",
                );
            }
            is_short_enough
        });
        patterns
    }

    /// Reads a list of strings; a single string is a list of one.
    fn string_list(&mut self) -> Vec<Box<str>> {
        match &self.node.kind {
            NodeKind::Scalar(..) => self.text().into_iter().filter(|text| !text.is_empty()).collect(),
            NodeKind::List(items) if items.iter().all(|item| scalar_text(item).is_some()) => items
                .iter()
                .filter_map(scalar_text)
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(Into::into)
                .collect(),
            NodeKind::List(_) | NodeKind::Map(_) => {
                self.report_type("a list of strings", "write it as [one, two]");
                Vec::new()
            }
        }
    }

    fn boolean(&mut self) -> Option<bool> {
        match self.node.value() {
            Value::Bool(value) => Some(value),
            Value::Text(text) if matches!(text.as_ref(), "true" | "yes" | "on") => Some(true),
            Value::Text(text) if matches!(text.as_ref(), "false" | "no" | "off") => Some(false),
            _ => {
                self.report_type("true or false", "write true or false");
                None
            }
        }
    }

    /// Reads `arguments`: names separated by spaces, or a list. Numbers are positions, not names.
    fn argument_names(&mut self) -> Vec<Box<str>> {
        let names = self.string_list();
        let names = names.iter().flat_map(|text| text.split_whitespace());
        let is_name = |name: &&str| {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            name.chars().count() <= ARGUMENT_NAME_MAX
                && name.chars().all(is_part)
                && !name.chars().all(|c| c.is_ascii_digit())
        };
        names.filter(is_name).take(ARGUMENTS_MAX).map(Into::into).collect()
    }

    /// Reads `paths`: globs separated by commas, or a list.
    fn paths(&mut self) -> Vec<Box<str>> {
        let is_text = matches!(self.node.kind, NodeKind::Scalar(..));
        let mut globs: Vec<Box<str>> = Vec::new();
        for text in self.string_list() {
            // A comma in braces belongs to the glob.
            match is_text && !text.contains('{') {
                true => globs.extend(text.split(',').map(|glob| glob.trim().into())),
                false => globs.push(text),
            }
        }
        globs.retain(|glob| !glob.is_empty());
        if globs.len() > PATHS_MAX || globs.iter().any(|glob| glob.len() > PATH_MAX) {
            let message =
                format!("paths has more than {PATHS_MAX} globs, or one with more than {PATH_MAX} bytes");
            self.sink.report(
                self.level.min(RuleLevel::Warn),
                Code::FieldLong,
                self.node.span,
                message,
                "shorten it",
            );
        }
        globs.into_iter().filter(|glob| glob.len() <= PATH_MAX).take(PATHS_MAX).collect()
    }

    /// Reads `argument-hint`. `[file]` is meant literally, but YAML parses it as a list.
    fn argument_hint(&mut self) -> Option<Box<str>> {
        match &self.node.kind {
            NodeKind::List(items) => Some(
                format!("[{}]", items.iter().filter_map(scalar_text).collect::<Vec<_>>().join(", ")).into(),
            ),
            NodeKind::Scalar(..) => self.text(),
            NodeKind::Map(_) => {
                self.report_type("text", "write it in quotes");
                None
            }
        }
    }
}

/// Returns the value of a key of a mapping; the last of duplicate keys counts.
fn map_value<'n>(node: &'n Node<'n>, name: &str) -> Option<&'n Node<'n>> {
    let NodeKind::Map(entries) = &node.kind else { return None };
    let is_named = |key: &Node<'_>| matches!(&key.kind, NodeKind::Scalar(text, _) if text == name);
    entries.iter().rev().find(|(key, _)| is_named(key)).map(|(_, value)| value)
}

/// Returns a scalar as text, and a list of scalars as words, because `tags: [a, b]` is common.
fn metadata_text(node: &Node<'_>) -> Option<Box<str>> {
    match &node.kind {
        NodeKind::Scalar(..) => Some(scalar_text(node).unwrap_or_default().trim().into()),
        NodeKind::List(items) => {
            let words = items.iter().map(scalar_text).collect::<Option<Vec<_>>>()?;
            Some(words.join(" ").into())
        }
        NodeKind::Map(_) => None,
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

/// Returns `true` for `1.2.3` with an optional pre-release and build.
fn is_semantic_version(version: &str) -> bool {
    let (version, build) =
        version.split_once('+').map_or((version, None), |(core, build)| (core, Some(build)));
    let (core, pre) = version.split_once('-').map_or((version, None), |(core, pre)| (core, Some(pre)));
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let is_word =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let are_words = |text: Option<&str>| text.is_none_or(|text| text.split('.').all(is_word));
    core.split('.').count() == 3 && core.split('.').all(is_number) && are_words(pre) && are_words(build)
}
