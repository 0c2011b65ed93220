//! Tool calls as numbered lines, with details on request.

use serde_json::Value;

use crate::columns;
use crate::output::clean;

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::commands) struct ToolCallRecord {
    id: String,
    name: String,
    arguments: Value,
    result: Option<(String, Value)>,
}

/// The tool calls of a chat, by the number they were shown with.
#[derive(Debug, Default)]
pub(in crate::commands) struct ToolCallLog {
    all: Vec<ToolCallRecord>,
}

impl ToolCallLog {
    pub(in crate::commands) fn record_call(&mut self, id: &str, name: &str, arguments: &Value) {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.clone());
        self.all.push(ToolCallRecord { id, name, arguments, result: None });
    }

    /// Records the result of a call and returns the line to show, truncated to `width`.
    pub(in crate::commands) fn record_result(
        &mut self,
        id: &str,
        status: &str,
        data: &Value,
        width: usize,
    ) -> String {
        let index = self.all.iter().rposition(|call| call.id == id);
        let Some((index, call)) = index.and_then(|index| Some((index, self.all.get_mut(index)?))) else {
            return String::new();
        };
        call.result = Some((status.to_owned(), data.clone()));
        call.line(index + 1, width)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the details of a call by its number, as lines.
    pub(super) fn details(&self, number: usize) -> Option<Vec<String>> {
        let call = self.all.get(number.checked_sub(1)?)?;
        let mut lines = vec![format!("[{number}] {}", clean(&call.name))];
        lines.extend(format_value("arguments", &call.arguments));
        match &call.result {
            Some((status, data)) => lines.extend(format_value(status, data)),
            None => lines.push("  no result".to_owned()),
        }
        Some(lines)
    }
}

impl ToolCallRecord {
    fn line(&self, number: usize, width: usize) -> String {
        let mut line = format!("[{number}] {}", clean(&self.name));
        let arguments = summarize(&self.arguments);
        if !arguments.is_empty() {
            line.push(' ');
            line.push_str(&arguments);
        }
        let end = match &self.result {
            None => " · no result".to_owned(),
            Some((status, _)) if status == "success" => String::new(),
            Some((status, data)) => match data["error"]["message"].as_str() {
                Some(message) => format!(" · {}: {}", clean(status), clean(message)),
                None => format!(" · {}", clean(status)),
            },
        };
        columns::truncate(
            &(columns::truncate(&line, width.saturating_sub(columns::width(&end)).max(40)) + &end),
            width,
        )
    }
}

/// Returns arguments on one line, without JSON syntax.
fn summarize(arguments: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => clean(text).into_owned(),
        other => clean(&other.to_string()).into_owned(),
    };
    match arguments {
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}={}", clean(key), text(value)));
            entries.collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => text(other),
    }
}

/// Formats a value over several lines. Line breaks in strings are kept, hidden characters are escaped.
fn format_value(name: &str, value: &Value) -> Vec<String> {
    let mut lines = vec![format!("  {}:", clean(name))];
    append_value(value, 4, &mut lines);
    lines
}

fn append_value(value: &Value, indent: usize, lines: &mut Vec<String>) {
    let space = " ".repeat(indent);
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::Object(_) | Value::Array(_) => {
                        lines.push(format!("{space}{}:", clean(key)));
                        append_value(value, indent + 2, lines);
                    }
                    Value::String(text) if text.contains('\n') => {
                        lines.push(format!("{space}{}:", clean(key)));
                        append_value(value, indent + 2, lines);
                    }
                    Value::String(text) => lines.push(format!("{space}{}: {}", clean(key), clean(text))),
                    other => lines.push(format!("{space}{}: {other}", clean(key))),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| append_value(item, indent, lines)),
        Value::String(text) => lines.extend(text.lines().map(|line| format!("{space}{}", clean(line)))),
        other => lines.push(format!("{space}{other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn calls_are_shown_as_lines_and_details() {
        let mut calls = ToolCallLog::default();
        calls.record_call("a", "skills.activate", &json!({"name": "pdf"}));
        calls.record_call(
            "b",
            "skills.run",
            &json!({"name": "pdf", "script": "x.py", "args": ["a", "b\u{1b}[31m"]}),
        );
        calls.record_call("c", "skills.search", &json!({"query": "long ".repeat(50)}));
        calls.record_call("d", "nothing", &Value::Null);
        let error = json!({"error": {"code": "NOT_FOUND", "message": "there is no skill\nnamed pdf"}});
        let text = json!({"stdout": "one\ntwo\u{202e}", "exit_code": 0, "files": ["a", "b"]});
        let lines = [
            calls.record_result("a", "error", &error, 80),
            calls.record_result("b", "success", &text, 80),
            calls.record_result("c", "partial", &json!({"truncated": true}), 80),
            calls.record_result("unknown", "success", &json!({}), 80),
        ];
        let expanded = (1..=4).flat_map(|number| calls.details(number).unwrap());
        insta::assert_snapshot!(lines.into_iter().chain(expanded).collect::<Vec<_>>().join("\n"));
        assert_eq!((calls.details(0), calls.details(5)), (None, None));
    }

    proptest! {
        #[test]
        fn a_call_is_one_line_without_hidden_characters(name in any::<String>(), key in any::<String>(), value in any::<String>()) {
            let mut calls = ToolCallLog::default();
            calls.record_call("a", &name, &json!({&*key: &value}));
            let line = calls.record_result("a", &key, &json!({"error": {"message": value}}), 60);
            prop_assert_eq!(prowess_format::hidden::find_hidden(&line), None);
            prop_assert!(!line.contains(['\n', '\r']));
            for line in calls.details(1).unwrap() {
                prop_assert_eq!(prowess_format::hidden::find_hidden(&line), None);
            }
        }
    }
}
