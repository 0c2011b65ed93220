//! Calls of tools: a line each, and what is behind it for those who ask.

use serde_json::Value;

use crate::columns;
use crate::output::clean;

/// A call, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::commands) struct Called {
    id: String,
    name: String,
    arguments: Value,
    answer: Option<(String, Value)>,
}

/// The calls that somebody has seen, under the numbers that they were shown with.
#[derive(Debug, Default)]
pub(in crate::commands) struct Calls {
    all: Vec<Called>,
}

impl Calls {
    /// A call was made.
    pub(in crate::commands) fn called(&mut self, id: &str, name: &str, arguments: &Value) {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.clone());
        self.all.push(Called { id, name, arguments, answer: None });
    }

    /// It was answered; the line to show, at most so wide.
    pub(in crate::commands) fn answered(
        &mut self,
        id: &str,
        status: &str,
        data: &Value,
        width: usize,
    ) -> String {
        let at = self.all.iter().rposition(|called| called.id == id);
        let Some((at, called)) = at.and_then(|at| Some((at, self.all.get_mut(at)?))) else {
            return String::new();
        };
        called.answer = Some((status.to_owned(), data.clone()));
        called.line(at + 1, width)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// A call by its number, with everything that is known of it, line by line.
    pub(super) fn expanded(&self, number: usize) -> Option<Vec<String>> {
        let called = self.all.get(number.checked_sub(1)?)?;
        let mut lines = vec![format!("[{number}] {}", clean(&called.name))];
        lines.extend(laid_out("with", &called.arguments));
        match &called.answer {
            Some((status, data)) => lines.extend(laid_out(status, data)),
            None => lines.push("  not answered".to_owned()),
        }
        Some(lines)
    }
}

impl Called {
    fn line(&self, number: usize, width: usize) -> String {
        let mut line = format!("[{number}] {}", clean(&self.name));
        let arguments = brief(&self.arguments);
        if !arguments.is_empty() {
            line.push(' ');
            line.push_str(&arguments);
        }
        let end = match &self.answer {
            None => " · not answered".to_owned(),
            Some((status, _)) if status == "success" => String::new(),
            Some((status, data)) => match data["error"]["message"].as_str() {
                Some(message) => format!(" · {}: {}", clean(status), clean(message)),
                None => format!(" · {}", clean(status)),
            },
        };
        columns::cut(&(columns::cut(&line, width.saturating_sub(columns::width(&end)).max(40)) + &end), width)
    }
}

/// Arguments as people write them.
fn brief(arguments: &Value) -> String {
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

/// A value over several lines. Line breaks in texts are line breaks here, and nothing is hidden.
fn laid_out(name: &str, value: &Value) -> Vec<String> {
    let mut lines = vec![format!("  {}:", clean(name))];
    put(value, 4, &mut lines);
    lines
}

fn put(value: &Value, indent: usize, lines: &mut Vec<String>) {
    let space = " ".repeat(indent);
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::Object(_) | Value::Array(_) => {
                        lines.push(format!("{space}{}:", clean(key)));
                        put(value, indent + 2, lines);
                    }
                    Value::String(text) if text.contains('\n') => {
                        lines.push(format!("{space}{}:", clean(key)));
                        put(value, indent + 2, lines);
                    }
                    Value::String(text) => lines.push(format!("{space}{}: {}", clean(key), clean(text))),
                    other => lines.push(format!("{space}{}: {other}", clean(key))),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| put(item, indent, lines)),
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
    fn as_people_see_them() {
        let mut calls = Calls::default();
        calls.called("a", "skills.activate", &json!({"name": "pdf"}));
        calls.called(
            "b",
            "skills.run",
            &json!({"name": "pdf", "script": "x.py", "args": ["a", "b\u{1b}[31m"]}),
        );
        calls.called("c", "skills.search", &json!({"query": "long ".repeat(50)}));
        calls.called("d", "nothing", &Value::Null);
        let error = json!({"error": {"code": "NOT_FOUND", "message": "there is no skill\nnamed pdf"}});
        let text = json!({"stdout": "one\ntwo\u{202e}", "exit_code": 0, "files": ["a", "b"]});
        let lines = [
            calls.answered("a", "error", &error, 80),
            calls.answered("b", "success", &text, 80),
            calls.answered("c", "partial", &json!({"truncated": true}), 80),
            calls.answered("unknown", "success", &json!({}), 80),
        ];
        let expanded = (1..=4).flat_map(|number| calls.expanded(number).unwrap());
        insta::assert_snapshot!(lines.into_iter().chain(expanded).collect::<Vec<_>>().join("\n"));
        assert_eq!((calls.expanded(0), calls.expanded(5)), (None, None));
    }

    proptest! {
        #[test]
        fn one_line_that_hides_nothing(name in any::<String>(), key in any::<String>(), value in any::<String>()) {
            let mut calls = Calls::default();
            calls.called("a", &name, &json!({&*key: &value}));
            let line = calls.answered("a", &key, &json!({"error": {"message": value}}), 60);
            prop_assert_eq!(prowess_format::hidden::first(&line), None);
            prop_assert!(!line.contains(['\n', '\r']));
            for line in calls.expanded(1).unwrap() {
                prop_assert_eq!(prowess_format::hidden::first(&line), None);
            }
        }
    }
}
