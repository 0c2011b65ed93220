//! Strict JSON with locations, which all manifests are read from.

use std::collections::HashSet;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use prowess_format::hidden::escape_and_truncate;
use prowess_format::{Code, Diagnostic, Location, Span};
use serde::de::IgnoredAny;

use super::limits::{DEPTH_MAX, DIAGNOSTICS_MAX, MANIFEST_MAX, NODES_MAX};

/// JSON without extensions.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_trailing_commas: false,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The result of parsing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The content; `None` if the file is rejected.
    pub value: Option<T>,
    /// The diagnostics, in the order of the file, at most a hundred.
    pub diagnostics: Vec<Diagnostic>,
}

/// The text of a file and the diagnostics about it.
pub(super) struct JsonFile<'t> {
    text: &'t str,
    diagnostics: Vec<Diagnostic>,
    omitted: usize,
}

impl<'t> JsonFile<'t> {
    /// Parses a file whose top level is an object. The object is `None` if the file is something else.
    pub(super) fn parse(bytes: &'t [u8]) -> (Self, Option<Object<'t>>) {
        let mut file = Self { text: "", diagnostics: Vec::new(), omitted: 0 };
        if bytes.len() > MANIFEST_MAX {
            let message = format!("the file is larger than {} KiB", MANIFEST_MAX / 1024);
            file.diagnostics
                .push(Diagnostic::error(Code::PluginLimit, message).help("remove what is not needed"));
            return (file, None);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => file.text = text,
            Err(error) => {
                let offset = error.valid_up_to();
                let location = Location::from_span(bytes, Span::new(offset, offset + 1));
                let diagnostic = Diagnostic::error(Code::PluginJson, "the file is not UTF-8");
                file.diagnostics.push(diagnostic.at(location).help("save it as UTF-8 text"));
                return (file, None);
            }
        }
        match file.parse_text() {
            Ok(Value::Object(object)) => (file, Some(object)),
            Ok(other) => {
                let (start, end) = (other.start(), other.end());
                file.error(Code::PluginJson, (start, end), "the file is not a JSON object", "write { … }");
                (file, None)
            }
            Err(diagnostic) => {
                file.diagnostics.push(diagnostic);
                (file, None)
            }
        }
    }

    fn parse_text(&self) -> Result<Value<'t>, Diagnostic> {
        let invalid = |offset: usize, message: String| {
            let location = Location::from_span(self.text.as_bytes(), Span::new(offset, offset));
            Diagnostic::error(Code::PluginJson, format!("the file is not valid JSON: {message}"))
                .at(location)
                .help("fix the syntax; comments and trailing commas are not allowed")
        };
        // This parser accepts exactly JSON, the other one knows the locations of values.
        serde_json::from_str::<IgnoredAny>(self.text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            invalid(self.offset(error.line(), error.column()), message.to_owned())
        })?;
        let parsed = parse_to_ast(self.text, &CollectOptions::default(), &STRICT);
        let parsed = parsed.map_err(|error| {
            invalid(error.range().start, escape_and_truncate(&error.kind().to_string()).to_lowercase())
        })?;
        let value = parsed.value.ok_or_else(|| invalid(0, "it is empty".to_owned()))?;
        let mut nodes = NODES_MAX;
        match is_within_limits(&value, DEPTH_MAX, &mut nodes) {
            true => Ok(value),
            false => {
                let message = format!(
                    "the file has more than {NODES_MAX} values, or is nested deeper than {DEPTH_MAX} levels"
                );
                Err(Diagnostic::error(Code::PluginLimit, message).help("remove what is not needed"))
            }
        }
    }

    /// Returns the offset of a line and a column in bytes, both counted from 1.
    fn offset(&self, line: usize, column: usize) -> usize {
        let mut starts =
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(offset, _)| offset + 1));
        let start = starts.nth(line.saturating_sub(1)).unwrap_or(self.text.len());
        (start + column.saturating_sub(1)).min(self.text.len())
    }

    pub(super) fn error(&mut self, code: Code, span: (usize, usize), message: impl Into<String>, help: &str) {
        self.report(Diagnostic::error(code, message), span, help);
    }

    pub(super) fn warn(&mut self, code: Code, span: (usize, usize), message: impl Into<String>, help: &str) {
        self.report(Diagnostic::warning(code, message), span, help);
    }

    fn report(&mut self, diagnostic: Diagnostic, span: (usize, usize), help: &str) {
        // Errors and warnings have separate limits, so that warnings do not hide errors. The location is computed
        // only for those that are kept, because it takes time.
        let same = |other: &&Diagnostic| other.severity == diagnostic.severity;
        if self.diagnostics.iter().filter(same).count() >= DIAGNOSTICS_MAX {
            self.omitted += 1;
            return;
        }
        let location = Location::from_span(self.text.as_bytes(), Span::new(span.0, span.1));
        self.diagnostics.push(diagnostic.at(location).help(help));
    }

    /// Returns the diagnostics, in the order of the file. The last one has the number of those that were omitted.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics
            .sort_by_key(|diagnostic| diagnostic.location.map_or(0, |location| location.span.start));
        if let (Some(last), 1..) = (self.diagnostics.last_mut(), self.omitted) {
            last.message += &format!(" (and {} more problems)", self.omitted);
        }
        self.diagnostics
    }

    /// Reports keys that occur more than once. Programs disagree on which value counts.
    pub(super) fn reject_duplicates(&mut self, object: &Object<'_>, code: Code) -> bool {
        let mut seen = HashSet::new();
        let mut is_unique = true;
        for member in &object.properties {
            if !seen.insert(member.name.as_str()) {
                let message = format!("duplicate key {}", escape_and_truncate(member.name.as_str()));
                self.error(code, key_span(member), message, "delete one of them");
                is_unique = false;
            }
        }
        is_unique
    }

    /// Returns a text, or reports a value of another type.
    pub(super) fn text(&mut self, code: Code, member: &ObjectProp<'_>) -> Option<String> {
        match &member.value {
            Value::StringLit(text) => Some(text.value.clone().into_owned()),
            other => {
                let message = format!("{} is not text", escape_and_truncate(member.name.as_str()));
                self.error(code, span(other), message, "write a text in double quotes");
                None
            }
        }
    }

    /// Returns a list of texts, or reports a value of another type.
    pub(super) fn texts(&mut self, code: Code, member: &ObjectProp<'_>) -> Option<Vec<String>> {
        let text = |value: &Value<'_>| match value {
            Value::StringLit(text) => Some(text.value.clone().into_owned()),
            _ => None,
        };
        let list =
            member.value.as_array().map(|list| list.elements.iter().map(text).collect::<Option<Vec<_>>>());
        list.flatten().or_else(|| {
            let message = format!("{} is not a list of texts", escape_and_truncate(member.name.as_str()));
            self.error(code, span(&member.value), message, "write [\"…\", \"…\"]");
            None
        })
    }

    /// Returns an object of texts, or reports a value of another type or a duplicate key.
    pub(super) fn text_map(&mut self, code: Code, member: &ObjectProp<'_>) -> Option<Vec<(String, String)>> {
        let entry = |member: &ObjectProp<'_>| match &member.value {
            Value::StringLit(text) => {
                Some((member.name.as_str().to_owned(), text.value.clone().into_owned()))
            }
            _ => None,
        };
        let object = member.value.as_object();
        if object.is_some_and(|object| !self.reject_duplicates(object, code)) {
            return None;
        }
        let map = object.map(|object| object.properties.iter().map(entry).collect::<Option<Vec<_>>>());
        map.flatten().or_else(|| {
            let message = format!("{} is not an object of texts", escape_and_truncate(member.name.as_str()));
            self.error(code, span(&member.value), message, "write {\"NAME\": \"value\"}");
            None
        })
    }
}

/// Returns the span of a value.
pub(super) fn span(value: &Value<'_>) -> (usize, usize) {
    (value.start(), value.end())
}

/// Returns the span of a key.
pub(super) fn key_span(member: &ObjectProp<'_>) -> (usize, usize) {
    (member.name.start(), member.name.end())
}

fn is_within_limits(value: &Value<'_>, depth: usize, nodes: &mut usize) -> bool {
    let Some((depth, rest)) = depth.checked_sub(1).zip(nodes.checked_sub(1)) else { return false };
    *nodes = rest;
    match value {
        Value::Object(object) => {
            object.properties.iter().all(|member| is_within_limits(&member.value, depth, nodes))
        }
        Value::Array(list) => list.elements.iter().all(|element| is_within_limits(element, depth, nodes)),
        Value::StringLit(_) | Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => true,
    }
}
