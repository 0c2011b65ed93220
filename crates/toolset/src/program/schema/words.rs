//! Types by name, and values compared.

use serde_json::Value;

/// Whether a value is of one of these types.
pub(super) fn is_of(types: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str() {
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some(name) => name == kind_word(value),
        None => false,
    };
    match types {
        Value::Array(all) => all.iter().any(one),
        name => one(name),
    }
}

fn kind_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

pub(super) fn kind(value: &Value) -> &'static str {
    article(kind_word(value))
}

fn article(kind: &str) -> &'static str {
    match kind {
        "null" => "null",
        "boolean" => "a boolean",
        "number" => "a number",
        "integer" => "an integer",
        "string" => "a string",
        "array" => "an array",
        _ => "an object",
    }
}

pub(super) fn named(types: &Value) -> String {
    let word = |name: &Value| article(name.as_str().unwrap_or_default());
    match types {
        Value::Array(all) => all.iter().map(word).collect::<Vec<_>>().join(" or "),
        one => word(one).to_owned(),
    }
}

/// Whether two values are the same: numbers by what they mean, not by how they are written.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// A number of things, in words.
pub(super) fn counted(count: u64, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(start)) => format!("{count} {start}ies"),
        (_, None) => format!("{count} {what}s"),
    }
}
