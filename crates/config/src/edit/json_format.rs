//! Formats values as JSON.

use prowess_format::{Value, hidden};

/// Formats a value on several lines. The first line is not indented.
pub(super) fn lines(value: &Value, margin: &str, unit: &str, line_break: &str) -> String {
    let deeper = format!("{margin}{unit}");
    let block = |open: char, parts: Vec<String>, close: char| {
        let separator = format!(",{line_break}{deeper}");
        format!("{open}{line_break}{deeper}{}{line_break}{margin}{close}", parts.join(&separator))
    };
    match value {
        Value::List(items) if !items.is_empty() => {
            block('[', items.iter().map(|item| lines(item, &deeper, unit, line_break)).collect(), ']')
        }
        Value::Map(entries) if !entries.is_empty() => {
            let entry = |(key, value): &(Box<str>, Value)| {
                format!("{}: {}", quote(key), lines(value, &deeper, unit, line_break))
            };
            block('{', entries.iter().map(entry).collect(), '}')
        }
        value => scalar(value),
    }
}

/// Formats a value on one line.
pub(super) fn one_line(value: &Value) -> String {
    match value {
        Value::List(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", quote(key), one_line(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        value => scalar(value),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => quote(text),
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}

/// Returns a text as a JSON string, with hidden characters escaped.
pub(super) fn quote(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let escaped = |c: char| match hidden::find_hidden(c.encode_utf8(&mut [0; 4])) {
        Some(_) => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        None => c.to_string(),
    };
    quoted.chars().map(escaped).collect()
}
