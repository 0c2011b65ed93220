//! The subset of JSON Schema for tool parameters: validated once, then used to check every call.
//!
//! Invariants: a keyword that would not be checked is refused, so that a schema can be relied on; and validation
//! terminates for any untrusted schema and arguments.

mod check;
mod types;

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// The maximum nesting of a schema.
const DEPTH_MAX: usize = 32;

/// The maximum length of a pattern in characters, and its maximum memory.
const PATTERN_MAX: usize = 1_000;
const PATTERN_BYTES: usize = 1024 * 1024;

/// Keywords that are annotations and check nothing.
const ANNOTATIONS: [&str; 15] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "contentEncoding",
    "contentMediaType",
    "discriminator",
];

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// A schema of which all keywords are supported.
#[derive(Debug, Clone)]
pub(in crate::program) struct ToolSchema {
    root: Value,
    patterns: HashMap<String, Regex>,
}

impl ToolSchema {
    /// Validates a schema. `patterns` is the remaining number of patterns. Errors include their location.
    pub(in crate::program) fn new(root: Value, patterns: &mut usize) -> Result<Self, String> {
        let mut schema = Self { root: Value::Null, patterns: HashMap::new() };
        SchemaValidator { root: &root, patterns: &mut schema.patterns, patterns_left: patterns }.validate(
            &root,
            "parameters",
            0,
        )?;
        schema.root = root;
        Ok(schema)
    }

    /// Returns the original schema.
    pub(in crate::program) fn value(&self) -> &Value {
        &self.root
    }
}

struct SchemaValidator<'a> {
    root: &'a Value,
    patterns: &'a mut HashMap<String, Regex>,
    patterns_left: &'a mut usize,
}

impl SchemaValidator<'_> {
    fn validate(&mut self, schema: &Value, location: &str, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("{location}: the schema is nested more than {DEPTH_MAX} levels deep"));
        }
        let keywords = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(keywords) => keywords,
            _ => return Err(format!("{location}: a schema must be an object, true or false")),
        };
        for (keyword, value) in keywords {
            self.keyword(keyword, value, &format!("{location}.{}", display(keyword)), depth)?;
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, value: &Value, location: &str, depth: usize) -> Result<(), String> {
        let require =
            |valid: bool, message: &str| if valid { Ok(()) } else { Err(format!("{location}: {message}")) };
        match keyword {
            "type" => {
                let is_type = |value: &Value| value.as_str().is_some_and(|text| TYPES.contains(&text));
                let valid = match value {
                    Value::Array(items) => !items.is_empty() && items.iter().all(is_type),
                    item => is_type(item),
                };
                require(valid, &format!("must be one of {}, or an array of them", TYPES.join(", ")))
            }
            "enum" => {
                require(value.as_array().is_some_and(|items| !items.is_empty()), "must be an array of values")
            }
            "const" => Ok(()),
            "required" => {
                let valid = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
                require(valid, "must be an array of names")
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                require(value.as_u64().is_some(), "must be a non-negative integer")
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                require(value.is_number(), "must be a number")
            }
            "multipleOf" => {
                require(value.as_f64().is_some_and(|step| step > 0.0), "must be a number greater than 0")
            }
            "uniqueItems" => require(value.is_boolean(), "must be true or false"),
            "pattern" => match value {
                Value::String(pattern) => self.compile_pattern(pattern, location),
                _ => Err(format!("{location}: must be a string")),
            },
            "items" | "additionalProperties" | "propertyNames" | "not" => {
                self.validate(value, location, depth + 1)
            }
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => {
                let items = value.as_array().filter(|items| !items.is_empty());
                let items = items.ok_or_else(|| format!("{location}: must be an array of schemas"))?;
                let mut schemas = items.iter().enumerate();
                schemas
                    .try_for_each(|(n, schema)| self.validate(schema, &format!("{location}.{n}"), depth + 1))
            }
            "properties" | "$defs" | "definitions" => self.validate_named(value, location, depth),
            "patternProperties" => {
                self.validate_named(value, location, depth)?;
                let mut patterns = value.as_object().into_iter().flat_map(Map::keys);
                patterns.try_for_each(|pattern| self.compile_pattern(pattern, location))
            }
            "$ref" => {
                let target = value.as_str().and_then(|pointer| resolve_ref(self.root, pointer));
                let message = "must refer to an existing #, #/$defs/NAME or #/definitions/NAME";
                require(target.is_some_and(|target| target.is_object() || target.is_boolean()), message)
            }
            keyword if ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-") => Ok(()),
            _ => Err(format!("{location}: this keyword is not supported")),
        }
    }

    fn validate_named(&mut self, value: &Value, location: &str, depth: usize) -> Result<(), String> {
        let schemas = value.as_object().ok_or_else(|| format!("{location}: must be an object of schemas"))?;
        let mut named = schemas.iter();
        named.try_for_each(|(name, schema)| {
            self.validate(schema, &format!("{location}.{}", display(name)), depth + 1)
        })
    }

    fn compile_pattern(&mut self, pattern: &str, location: &str) -> Result<(), String> {
        if self.patterns.contains_key(pattern) {
            return Ok(());
        }
        if pattern.chars().count() > PATTERN_MAX {
            return Err(format!("{location}: a pattern must not exceed {PATTERN_MAX} characters"));
        }
        *self.patterns_left = self
            .patterns_left
            .checked_sub(1)
            .ok_or_else(|| format!("{location}: there are too many patterns"))?;
        let regex =
            RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build();
        let regex = regex.map_err(|error| {
            // The last line has the reason; the lines before show the position.
            let message = error.to_string();
            let message = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("{location}: invalid pattern: {}", display(message))
        })?;
        self.patterns.insert(pattern.to_owned(), regex);
        Ok(())
    }
}

/// Resolves a reference. It can only refer to validated schemas.
fn resolve_ref<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let pointer = pointer.strip_prefix('#')?;
    let name = pointer.strip_prefix("/$defs/").or_else(|| pointer.strip_prefix("/definitions/"));
    let is_validated = pointer.is_empty() || name.is_some_and(|name| !name.contains('/'));
    is_validated.then(|| root.pointer(pointer)).flatten()
}

fn display(text: &str) -> String {
    let text: String = text.chars().take(80).collect();
    prowess::format::hidden::escape_for_display(&text).into_owned()
}

#[cfg(test)]
mod tests;
