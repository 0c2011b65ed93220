//! Optional fields. A field of the wrong type is reported and left out; the skill still loads unless the rules
//! are strict.

use super::known_field::{ARGUMENT_NAME_MAX, ARGUMENTS_MAX, KnownField, PATH_MAX, PATHS_MAX, PATTERN_MAX};
use super::read::scalar_text;
use super::{DiagnosticSink, OptionalFields, Triggers};
use crate::diagnostic::Code;
use crate::everyday::is_everyday_keyword;
use crate::hidden;
use crate::rules::{RuleLevel, Rules};
use crate::yaml::{Node, NodeKind, Value};

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
    let mut field = Field { key, node, sink, level: rules.field_form, rules };
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

pub(super) struct Field<'f, 's> {
    pub(super) key: &'f str,
    pub(super) node: &'f Node<'f>,
    pub(super) sink: &'f mut DiagnosticSink<'s>,
    pub(super) level: RuleLevel,
    pub(super) rules: &'f Rules,
}

impl Field<'_, '_> {
    pub(super) fn report_type(&mut self, expected: &str, help: &str) {
        let message = format!("{} is {}, not {expected}", self.key, self.node.describe());
        self.sink.report(self.level, Code::FieldForm, self.node.span, message, help);
    }

    pub(super) fn text(&mut self) -> Option<Box<str>> {
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
                rules: self.rules,
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
