//! The optional fields of the specification: `license`, `compatibility`, `metadata` and `allowed-tools`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::OpenClawRequires;
use super::edits::{quote_scalar, replace_list, replace_scalar, scalar};
use super::fields::Field;
use super::known_field::{CLIENT_METADATA, COMPATIBILITY_MAX};
use super::read::scalar_text;
use crate::diagnostic::{Code, Fix};
use crate::hidden;
use crate::rules::RuleLevel;
use crate::yaml::{Node, NodeKind, Value};

/// The entries of `metadata` in which OpenClaw reads what a skill requires.
const OPENCLAW_METADATA: [&str; 3] = ["openclaw", "clawdbot", "moltbot"];

/// The maximum number of commands in a list of `metadata.openclaw.requires`.
const COMMANDS_MAX: usize = 64;

impl Field<'_, '_> {
    pub(super) fn compatibility(&mut self) -> Option<Box<str>> {
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

    pub(super) fn metadata(&mut self) -> Vec<(Box<str>, Box<str>)> {
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
            if self.rules.metadata_values != RuleLevel::Ignore {
                self.check_metadata_value(key, value);
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
                        self.rules.duplicate_keys,
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
    pub(super) fn openclaw_requires(&self) -> OpenClawRequires {
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

    fn report_form(&mut self, message: impl Into<String>, help: &str, fix: Option<Fix>) {
        self.sink.report_with_fix(self.level, Code::FieldForm, self.node.span, message, help, fix);
    }

    /// Accepts a string separated by spaces or commas, or a list. Separators inside parentheses are ignored.
    /// With [`RuleLevel::Reject`], only spaces may separate, as in the specification.
    pub(super) fn allowed_tools(&mut self) -> Option<Vec<Box<str>>> {
        let help = "write allowed-tools: Read Bash(git:*)";
        match &self.node.kind {
            NodeKind::Scalar(text, _) => {
                let tools = split_tools(text, |c| c.is_whitespace() || c == ',');
                if self.level == RuleLevel::Reject && tools != split_tools(text, char::is_whitespace) {
                    let message = "allowed-tools is separated by commas instead of spaces";
                    let fix = replace_scalar(self.node, &scalar(&tools.join(" ")), self.sink);
                    self.report_form(message, help, fix);
                }
                Some(tools)
            }
            NodeKind::List(items) if items.iter().all(|item| scalar_text(item).is_some()) => {
                if self.level == RuleLevel::Reject {
                    let message = format!("allowed-tools is {}, not text", self.node.describe());
                    let fix =
                        joined_tools(items).and_then(|tools| replace_list(self.node, &tools, self.sink));
                    self.report_form(message, help, fix);
                }
                Some(items.iter().filter_map(scalar_text).map(|text| text.trim().into()).collect())
            }
            NodeKind::List(_) | NodeKind::Map(_) => {
                self.report_type("text or a list of strings", help);
                None
            }
        }
    }

    /// Reports a number, a boolean or nothing in `metadata`, whose values are text in the specification. They are used
    /// as written.
    fn check_metadata_value(&mut self, key: &str, node: &Node<'_>) {
        let help = match node.value() {
            Value::Number(_) | Value::Bool(_) => "write it in quotes",
            Value::Null => "write a text, or remove it",
            Value::Text(_) | Value::List(_) | Value::Map(_) => return,
        };
        let message =
            format!("metadata.{} is {}, not text", hidden::escape_for_display(key), node.describe());
        let fix = quote_scalar(node, self.sink).filter(|_| node.value() != Value::Null);
        self.sink.report_with_fix(self.rules.metadata_values, Code::FieldForm, node.span, message, help, fix);
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

/// Joins a list of tools with spaces. Returns `None` if the result would be read as other tools.
fn joined_tools(items: &[Node<'_>]) -> Option<String> {
    let tools: Vec<_> = items.iter().filter_map(scalar_text).map(str::trim).collect();
    let joined = tools.join(" ");
    let is_same = split_tools(&joined, |c| c.is_whitespace() || c == ',').iter().map(AsRef::as_ref).eq(tools);
    is_same.then_some(joined)
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
