//! Validates a value against a schema and collects all errors.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::types::{has_type, json_equal, list_types, pluralize, type_with_article};
use super::{ToolSchema, display, resolve_ref};

/// The maximum number of schemas to evaluate for one value. References can be circular, and alternatives multiply.
const STEPS_MAX: usize = 100_000;

/// The maximum nesting of schemas: a value is at most 128 levels deep, and each level may need several schemas.
const DEPTH_MAX: usize = 400;

/// The maximum number of errors to report.
const ISSUES_MAX: usize = 10;

impl ToolSchema {
    /// Returns all errors of a value, in one line.
    pub(in crate::program) fn check(&self, value: &Value) -> Result<(), String> {
        let mut check = Validation { schema: self, steps: 0, depth: 0, issues: Vec::new(), path: Vec::new() };
        check.check_value(&self.root, value);
        if check.steps > STEPS_MAX {
            return Err(
                "cannot validate the arguments: the schema has too many alternatives or refers to itself"
                    .to_owned(),
            );
        }
        if check.issues.is_empty() { Ok(()) } else { Err(check.issues.join("; ")) }
    }
}

struct Validation<'s> {
    schema: &'s ToolSchema,
    steps: usize,
    depth: usize,
    issues: Vec<String>,
    path: Vec<String>,
}

impl Validation<'_> {
    fn add_issue(&mut self, message: impl AsRef<str>) {
        let path = display(&self.path.join("."));
        let path = if path.is_empty() { path } else { format!("{path}: ") };
        match self.issues.len() {
            ISSUES_MAX => self.issues.push("and more".to_owned()),
            count if count < ISSUES_MAX => self.issues.push(format!("{path}{}", message.as_ref())),
            _ => {}
        }
    }

    /// Returns `true` if a value matches, without recording errors.
    fn matches_schema(&mut self, schema: &Value, value: &Value) -> bool {
        let (issues, path) = (std::mem::take(&mut self.issues), self.path.clone());
        self.check_value(schema, value);
        self.path = path;
        std::mem::replace(&mut self.issues, issues).is_empty()
    }

    fn check_child(&mut self, part: impl Into<String>, schema: &Value, value: &Value) {
        self.path.push(part.into());
        self.check_value(schema, value);
        self.path.pop();
    }

    fn check_value(&mut self, schema: &Value, value: &Value) {
        self.steps += 1;
        if self.depth >= DEPTH_MAX {
            self.steps = STEPS_MAX + 1;
        }
        if self.steps > STEPS_MAX {
            // The whole validation has failed, so the message does not matter.
            return self.add_issue("cannot be validated");
        }
        self.depth += 1;
        self.check_keywords(schema, value);
        self.depth -= 1;
    }

    fn check_keywords(&mut self, schema: &Value, value: &Value) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Object(keywords) => keywords,
            _ => return self.add_issue("no value is allowed"),
        };
        if let Some(types) = keywords.get("type")
            && !has_type(types, value)
        {
            // Other keywords would only be confusing for a wrong type.
            return self.add_issue(format!(
                "must be {}, not {}",
                list_types(types),
                type_with_article(value)
            ));
        }
        for (keyword, expected) in keywords {
            self.check_keyword(keyword, expected, value);
        }
        match value {
            Value::String(text) => self.check_string(keywords, text),
            Value::Number(_) => self.check_number(keywords, value.as_f64().unwrap_or_default()),
            Value::Array(items) => self.check_array(keywords, items),
            Value::Object(properties) => self.check_object(keywords, properties),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn check_keyword(&mut self, keyword: &str, expected: &Value, value: &Value) {
        let members = || expected.as_array().into_iter().flatten();
        match keyword {
            "enum" if !members().any(|option| json_equal(option, value)) => {
                let shown: Vec<_> = members().take(20).map(|option| display(&option.to_string())).collect();
                self.add_issue(format!("must be one of {}", shown.join(", ")));
            }
            "const" if !json_equal(expected, value) => {
                self.add_issue(format!("must be {}", display(&expected.to_string())));
            }
            "$ref" => {
                // The schema was validated: the reference exists, but may be circular.
                if let Some(target) =
                    expected.as_str().and_then(|pointer| resolve_ref(&self.schema.root, pointer))
                {
                    self.check_value(target, value);
                }
            }
            "allOf" => members().for_each(|schema| self.check_value(schema, value)),
            "anyOf" if !members().any(|schema| self.matches_schema(schema, value)) => {
                self.check_alternatives(expected, value)
            }
            "oneOf" => match members().filter(|schema| self.matches_schema(schema, value)).count() {
                1 => {}
                0 => self.check_alternatives(expected, value),
                count => self.add_issue(format!("matches {count} alternatives, but must match exactly one")),
            },
            "not" if self.matches_schema(expected, value) => self.add_issue("is not allowed"),
            _ => {}
        }
    }

    /// Records that no alternative matches, with details if only one has the type of the value.
    fn check_alternatives(&mut self, schemas: &Value, value: &Value) {
        let has_value_type = |schema: &&Value| schema.get("type").is_some_and(|types| has_type(types, value));
        let mut candidates = schemas.as_array().into_iter().flatten().filter(has_value_type);
        match (candidates.next(), candidates.next()) {
            (Some(only), None) => self.check_value(only, value),
            _ => self.add_issue("matches none of the alternatives"),
        }
    }

    fn check_string(&mut self, keywords: &Map<String, Value>, text: &str) {
        let length = text.chars().count() as u64;
        let number = |key: &str| keywords.get(key).and_then(Value::as_u64);
        if let Some(min) = number("minLength").filter(|min| length < *min) {
            self.add_issue(format!("must have at least {}, but has {length}", pluralize(min, "character")));
        }
        if let Some(max) = number("maxLength").filter(|max| length > *max) {
            self.add_issue(format!("must have at most {}, but has {length}", pluralize(max, "character")));
        }
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str)
            && !self.matches_pattern(pattern, text)
        {
            self.add_issue(format!("must match {}", display(pattern)));
        }
    }

    fn matches_pattern(&self, pattern: &str, text: &str) -> bool {
        self.schema.patterns.get(pattern).is_some_and(|pattern| pattern.is_match(text))
    }

    fn check_number(&mut self, keywords: &Map<String, Value>, number: f64) {
        let bound = |key: &str| keywords.get(key).and_then(Value::as_f64);
        if let Some(min) = bound("minimum").filter(|min| number < *min) {
            self.add_issue(format!("must be at least {min}"));
        }
        if let Some(max) = bound("maximum").filter(|max| number > *max) {
            self.add_issue(format!("must be at most {max}"));
        }
        if let Some(min) = bound("exclusiveMinimum").filter(|min| number <= *min) {
            self.add_issue(format!("must be greater than {min}"));
        }
        if let Some(max) = bound("exclusiveMaximum").filter(|max| number >= *max) {
            self.add_issue(format!("must be less than {max}"));
        }
        if let Some(step) = bound("multipleOf").filter(|step| {
            let times = number / step;
            (times - times.round()).abs() > f64::EPSILON * times.abs().max(1.0) * 4.0
        }) {
            self.add_issue(format!("must be a multiple of {step}"));
        }
    }

    fn check_array(&mut self, keywords: &Map<String, Value>, items: &[Value]) {
        let count = items.len() as u64;
        let number = |key: &str| keywords.get(key).and_then(Value::as_u64);
        if let Some(min) = number("minItems").filter(|min| count < *min) {
            self.add_issue(format!("must have at least {}, but has {count}", pluralize(min, "item")));
        }
        if let Some(max) = number("maxItems").filter(|max| count > *max) {
            self.add_issue(format!("must have at most {}, but has {count}", pluralize(max, "item")));
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = HashSet::new();
            if !items.iter().all(|item| seen.insert(item.to_string())) {
                self.add_issue("contains a duplicate item");
            }
        }
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        for (n, (schema, item)) in first.into_iter().flatten().zip(items).enumerate() {
            self.check_child(n.to_string(), schema, item);
        }
        if let Some(schema) = keywords.get("items") {
            for (n, item) in items.iter().enumerate().skip(first.map_or(0, Vec::len)) {
                self.check_child(n.to_string(), schema, item);
            }
        }
    }

    fn check_object(&mut self, keywords: &Map<String, Value>, properties: &Map<String, Value>) {
        let count = properties.len() as u64;
        let number = |key: &str| keywords.get(key).and_then(Value::as_u64);
        if let Some(min) = number("minProperties").filter(|min| count < *min) {
            self.add_issue(format!("must have at least {}, but has {count}", pluralize(min, "property")));
        }
        if let Some(max) = number("maxProperties").filter(|max| count > *max) {
            self.add_issue(format!("must have at most {}, but has {count}", pluralize(max, "property")));
        }
        for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = name.as_str().filter(|name| !properties.contains_key(*name)) {
                self.add_issue(format!("{} is required", display(name)));
            }
        }
        let schemas = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (name, value) in properties {
            if let Some(schema) = keywords.get("propertyNames")
                && !self.matches_schema(schema, &Value::String(name.clone()))
            {
                self.add_issue(format!("{} is not an allowed name", display(name)));
            }
            let mut covered = false;
            if let Some(schema) = schemas.and_then(|schemas| schemas.get(name)) {
                covered = true;
                self.check_child(name, schema, value);
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                if self.matches_pattern(pattern, name) {
                    covered = true;
                    self.check_child(name, schema, value);
                }
            }
            match keywords.get("additionalProperties") {
                Some(Value::Bool(false)) if !covered => {
                    self.add_issue(format!("{} is not allowed", display(name)));
                }
                Some(schema) if !covered => self.check_child(name, schema, value),
                _ => {}
            }
        }
    }
}
