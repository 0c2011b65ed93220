//! The part of JSON Schema that tool parameters are written in: judged once, then checked before every call. Pure.
//!
//! What must always hold: a keyword that would not be checked is not accepted, so that whoever relies on a schema can;
//! and checking ends, whatever schema and arguments strangers bring.

mod check;
mod words;

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// How deep a schema may lie in itself.
const DEPTH_MAX: usize = 32;

/// The longest pattern, in characters, and the most memory that one may take.
const PATTERN_MAX: usize = 1_000;
const PATTERN_BYTES: usize = 1024 * 1024;

/// Keywords that say something about a value and check nothing.
const REMARKS: [&str; 15] = [
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

/// A schema that is understood to the last keyword.
#[derive(Debug, Clone)]
pub(in crate::program) struct Schema {
    root: Value,
    patterns: HashMap<String, Regex>,
}

impl Schema {
    /// Judges a schema. `patterns` is how many more of them there may be. What is wrong comes with where.
    pub(in crate::program) fn new(root: Value, patterns: &mut usize) -> Result<Self, String> {
        let mut schema = Self { root: Value::Null, patterns: HashMap::new() };
        Judge { root: &root, patterns: &mut schema.patterns, left: patterns }.judge(
            &root,
            "parameters",
            0,
        )?;
        schema.root = root;
        Ok(schema)
    }

    /// The schema as it was written.
    pub(in crate::program) fn value(&self) -> &Value {
        &self.root
    }
}

struct Judge<'a> {
    root: &'a Value,
    patterns: &'a mut HashMap<String, Regex>,
    left: &'a mut usize,
}

impl Judge<'_> {
    fn judge(&mut self, schema: &Value, at: &str, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("{at}: the schema is nested deeper than {DEPTH_MAX}"));
        }
        let keywords = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(keywords) => keywords,
            _ => return Err(format!("{at}: a schema is an object, true or false")),
        };
        for (keyword, value) in keywords {
            self.keyword(keyword, value, &format!("{at}.{}", shown(keyword)), depth)?;
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        let wants = |fits: bool, what: &str| if fits { Ok(()) } else { Err(format!("{at}: {what}")) };
        match keyword {
            "type" => {
                let known = |value: &Value| value.as_str().is_some_and(|text| TYPES.contains(&text));
                let fits = match value {
                    Value::Array(all) => !all.is_empty() && all.iter().all(known),
                    one => known(one),
                };
                wants(fits, &format!("it is one of {}, or an array of them", TYPES.join(", ")))
            }
            "enum" => wants(value.as_array().is_some_and(|all| !all.is_empty()), "it is an array of values"),
            "const" => Ok(()),
            "required" => {
                let fits = value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
                wants(fits, "it is an array of names")
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                wants(value.as_u64().is_some(), "it is a whole number from 0")
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                wants(value.is_number(), "it is a number")
            }
            "multipleOf" => wants(value.as_f64().is_some_and(|step| step > 0.0), "it is a number above 0"),
            "uniqueItems" => wants(value.is_boolean(), "it is true or false"),
            "pattern" => match value {
                Value::String(pattern) => self.pattern(pattern, at),
                _ => Err(format!("{at}: it is a text")),
            },
            "items" | "additionalProperties" | "propertyNames" | "not" => self.judge(value, at, depth + 1),
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => {
                let all = value.as_array().filter(|all| !all.is_empty());
                let all = all.ok_or_else(|| format!("{at}: it is an array of schemas"))?;
                let mut each = all.iter().enumerate();
                each.try_for_each(|(n, schema)| self.judge(schema, &format!("{at}.{n}"), depth + 1))
            }
            "properties" | "$defs" | "definitions" => self.named(value, at, depth),
            "patternProperties" => {
                self.named(value, at, depth)?;
                let mut patterns = value.as_object().into_iter().flat_map(Map::keys);
                patterns.try_for_each(|pattern| self.pattern(pattern, at))
            }
            "$ref" => {
                let target = value.as_str().and_then(|pointer| target(self.root, pointer));
                let what = "it leads nowhere; it is #, #/$defs/NAME or #/definitions/NAME, and that is there";
                wants(target.is_some_and(|target| target.is_object() || target.is_boolean()), what)
            }
            remark if REMARKS.contains(&remark) || remark.starts_with("x-") => Ok(()),
            _ => Err(format!("{at}: this keyword is not checked here, so it is not accepted")),
        }
    }

    fn named(&mut self, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        let all = value.as_object().ok_or_else(|| format!("{at}: it is an object of schemas"))?;
        let mut each = all.iter();
        each.try_for_each(|(name, schema)| self.judge(schema, &format!("{at}.{}", shown(name)), depth + 1))
    }

    fn pattern(&mut self, pattern: &str, at: &str) -> Result<(), String> {
        if self.patterns.contains_key(pattern) {
            return Ok(());
        }
        if pattern.chars().count() > PATTERN_MAX {
            return Err(format!("{at}: a pattern has at most {PATTERN_MAX} characters"));
        }
        *self.left = self.left.checked_sub(1).ok_or_else(|| format!("{at}: there are too many patterns"))?;
        let made = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build();
        let made = made.map_err(|error| {
            // The last line says what it is; those before show where.
            let told = error.to_string();
            let told = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("{at}: the pattern cannot be used: {}", shown(told))
        })?;
        self.patterns.insert(pattern.to_owned(), made);
        Ok(())
    }
}

/// What a reference leads to: only to where schemas are judged.
fn target<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let pointer = pointer.strip_prefix('#')?;
    let name = pointer.strip_prefix("/$defs/").or_else(|| pointer.strip_prefix("/definitions/"));
    let is_judged = pointer.is_empty() || name.is_some_and(|name| !name.contains('/'));
    is_judged.then(|| root.pointer(pointer)).flatten()
}

fn shown(text: &str) -> String {
    let text: String = text.chars().take(80).collect();
    prowess::format::hidden::shown(&text).into_owned()
}

#[cfg(test)]
mod tests;
