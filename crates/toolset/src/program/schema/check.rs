//! Whether a value fits a schema, and everything that is wrong where it does not.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::words::{counted, is_of, kind, named, same};
use super::{Schema, shown, target};

/// How many schemas are looked at for one value. References can lead in circles, and alternatives multiply.
const STEPS_MAX: usize = 100_000;

/// How deep schemas are followed into each other: a value is at most 128 deep, and each level may take some.
const DEPTH_MAX: usize = 400;

/// The most that is told.
const ISSUES_MAX: usize = 10;

impl Schema {
    /// Everything that is wrong with a value, in one line.
    pub(in crate::program) fn check(&self, value: &Value) -> Result<(), String> {
        let mut check = Check { schema: self, steps: 0, depth: 0, issues: Vec::new(), path: Vec::new() };
        check.value(&self.root, value);
        if check.steps > STEPS_MAX {
            return Err(
                "the arguments cannot be checked: the schema has too many alternatives, or leads to itself"
                    .to_owned(),
            );
        }
        if check.issues.is_empty() { Ok(()) } else { Err(check.issues.join("; ")) }
    }
}

struct Check<'s> {
    schema: &'s Schema,
    steps: usize,
    depth: usize,
    issues: Vec<String>,
    path: Vec<String>,
}

impl Check<'_> {
    fn issue(&mut self, what: impl AsRef<str>) {
        let at = shown(&self.path.join("."));
        let at = if at.is_empty() { at } else { format!("{at}: ") };
        match self.issues.len() {
            ISSUES_MAX => self.issues.push("and more".to_owned()),
            count if count < ISSUES_MAX => self.issues.push(format!("{at}{}", what.as_ref())),
            _ => {}
        }
    }

    /// Whether a value fits, without a word about it.
    fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        let (issues, path) = (std::mem::take(&mut self.issues), self.path.clone());
        self.value(schema, value);
        self.path = path;
        std::mem::replace(&mut self.issues, issues).is_empty()
    }

    fn inside(&mut self, part: impl Into<String>, schema: &Value, value: &Value) {
        self.path.push(part.into());
        self.value(schema, value);
        self.path.pop();
    }

    fn value(&mut self, schema: &Value, value: &Value) {
        self.steps += 1;
        if self.depth >= DEPTH_MAX {
            self.steps = STEPS_MAX + 1;
        }
        if self.steps > STEPS_MAX {
            // The whole check has failed, whatever is said here.
            return self.issue("it cannot be checked");
        }
        self.depth += 1;
        self.judged(schema, value);
        self.depth -= 1;
    }

    fn judged(&mut self, schema: &Value, value: &Value) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Object(keywords) => keywords,
            _ => return self.issue("nothing is accepted here"),
        };
        if let Some(types) = keywords.get("type")
            && !is_of(types, value)
        {
            // What else is said about another type would only confuse.
            return self.issue(format!("has to be {}, is {}", named(types), kind(value)));
        }
        for (keyword, wanted) in keywords {
            self.general(keyword, wanted, value);
        }
        match value {
            Value::String(text) => self.text(keywords, text),
            Value::Number(_) => self.number(keywords, value.as_f64().unwrap_or_default()),
            Value::Array(items) => self.items(keywords, items),
            Value::Object(properties) => self.properties(keywords, properties),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn general(&mut self, keyword: &str, wanted: &Value, value: &Value) {
        let each = || wanted.as_array().into_iter().flatten();
        match keyword {
            "enum" if !each().any(|one| same(one, value)) => {
                let all: Vec<_> = each().take(20).map(|one| shown(&one.to_string())).collect();
                self.issue(format!("has to be one of {}", all.join(", ")));
            }
            "const" if !same(wanted, value) => {
                self.issue(format!("has to be {}", shown(&wanted.to_string())));
            }
            "$ref" => {
                // The schema was judged: it leads somewhere, perhaps to itself.
                if let Some(target) = wanted.as_str().and_then(|pointer| target(&self.schema.root, pointer)) {
                    self.value(target, value);
                }
            }
            "allOf" => each().for_each(|schema| self.value(schema, value)),
            "anyOf" if !each().any(|schema| self.fits(schema, value)) => self.alternatives(wanted, value),
            "oneOf" => match each().filter(|schema| self.fits(schema, value)).count() {
                1 => {}
                0 => self.alternatives(wanted, value),
                count => self.issue(format!("fits {count} alternatives, and has to fit exactly one")),
            },
            "not" if self.fits(wanted, value) => self.issue("is what it must not be"),
            _ => {}
        }
    }

    /// That no alternative fits: with what is wrong where there is only one for this type.
    fn alternatives(&mut self, schemas: &Value, value: &Value) {
        let of_type = |schema: &&Value| schema.get("type").is_some_and(|types| is_of(types, value));
        let mut near = schemas.as_array().into_iter().flatten().filter(of_type);
        match (near.next(), near.next()) {
            (Some(only), None) => self.value(only, value),
            _ => self.issue("fits none of the alternatives"),
        }
    }

    fn text(&mut self, keywords: &Map<String, Value>, text: &str) {
        let length = text.chars().count() as u64;
        let number = |key: &str| keywords.get(key).and_then(Value::as_u64);
        if let Some(least) = number("minLength").filter(|least| length < *least) {
            self.issue(format!("has to have at least {}, has {length}", counted(least, "character")));
        }
        if let Some(most) = number("maxLength").filter(|most| length > *most) {
            self.issue(format!("has to have at most {}, has {length}", counted(most, "character")));
        }
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str)
            && !self.matches(pattern, text)
        {
            self.issue(format!("has to match {}", shown(pattern)));
        }
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        self.schema.patterns.get(pattern).is_some_and(|pattern| pattern.is_match(text))
    }

    fn number(&mut self, keywords: &Map<String, Value>, number: f64) {
        let bound = |key: &str| keywords.get(key).and_then(Value::as_f64);
        if let Some(least) = bound("minimum").filter(|least| number < *least) {
            self.issue(format!("has to be at least {least}"));
        }
        if let Some(most) = bound("maximum").filter(|most| number > *most) {
            self.issue(format!("has to be at most {most}"));
        }
        if let Some(least) = bound("exclusiveMinimum").filter(|least| number <= *least) {
            self.issue(format!("has to be more than {least}"));
        }
        if let Some(most) = bound("exclusiveMaximum").filter(|most| number >= *most) {
            self.issue(format!("has to be less than {most}"));
        }
        if let Some(step) = bound("multipleOf").filter(|step| {
            let times = number / step;
            (times - times.round()).abs() > f64::EPSILON * times.abs().max(1.0) * 4.0
        }) {
            self.issue(format!("has to be a multiple of {step}"));
        }
    }

    fn items(&mut self, keywords: &Map<String, Value>, items: &[Value]) {
        let count = items.len() as u64;
        let number = |key: &str| keywords.get(key).and_then(Value::as_u64);
        if let Some(least) = number("minItems").filter(|least| count < *least) {
            self.issue(format!("has to have at least {}, has {count}", counted(least, "item")));
        }
        if let Some(most) = number("maxItems").filter(|most| count > *most) {
            self.issue(format!("has to have at most {}, has {count}", counted(most, "item")));
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = HashSet::new();
            if !items.iter().all(|item| seen.insert(item.to_string())) {
                self.issue("has the same item twice");
            }
        }
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        for (n, (schema, item)) in first.into_iter().flatten().zip(items).enumerate() {
            self.inside(n.to_string(), schema, item);
        }
        if let Some(schema) = keywords.get("items") {
            for (n, item) in items.iter().enumerate().skip(first.map_or(0, Vec::len)) {
                self.inside(n.to_string(), schema, item);
            }
        }
    }

    fn properties(&mut self, keywords: &Map<String, Value>, properties: &Map<String, Value>) {
        let count = properties.len() as u64;
        let number = |key: &str| keywords.get(key).and_then(Value::as_u64);
        if let Some(least) = number("minProperties").filter(|least| count < *least) {
            self.issue(format!("has to have at least {}, has {count}", counted(least, "property")));
        }
        if let Some(most) = number("maxProperties").filter(|most| count > *most) {
            self.issue(format!("has to have at most {}, has {count}", counted(most, "property")));
        }
        for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = name.as_str().filter(|name| !properties.contains_key(*name)) {
                self.issue(format!("{} is missing", shown(name)));
            }
        }
        let known = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (name, value) in properties {
            if let Some(schema) = keywords.get("propertyNames")
                && !self.fits(schema, &Value::String(name.clone()))
            {
                self.issue(format!("{} is no name that is accepted", shown(name)));
            }
            let mut covered = false;
            if let Some(schema) = known.and_then(|known| known.get(name)) {
                covered = true;
                self.inside(name, schema, value);
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                if self.matches(pattern, name) {
                    covered = true;
                    self.inside(name, schema, value);
                }
            }
            match keywords.get("additionalProperties") {
                Some(Value::Bool(false)) if !covered => {
                    self.issue(format!("{} is not known", shown(name)));
                }
                Some(schema) if !covered => self.inside(name, schema, value),
                _ => {}
            }
        }
    }
}
