//! Names of types, and comparison of values.

use serde_json::Value;

/// Returns `true` if the value has one of these types.
pub(super) fn has_type(types: &Value, value: &Value) -> bool {
    let matches = |name: &Value| match name.as_str() {
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some(name) => name == type_name(value),
        None => false,
    };
    match types {
        Value::Array(types) => types.iter().any(matches),
        name => matches(name),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

pub(super) fn type_with_article(value: &Value) -> &'static str {
    with_article(type_name(value))
}

fn with_article(kind: &str) -> &'static str {
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

pub(super) fn list_types(types: &Value) -> String {
    let word = |name: &Value| with_article(name.as_str().unwrap_or_default());
    match types {
        Value::Array(types) => types.iter().map(word).collect::<Vec<_>>().join(" or "),
        single => word(single).to_owned(),
    }
}

/// Returns `true` if two values are equal. Numbers are compared by value.
pub(super) fn json_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b)))
        }
        (a, b) => a == b,
    }
}

pub(super) fn pluralize(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(start)) => format!("{count} {start}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}
