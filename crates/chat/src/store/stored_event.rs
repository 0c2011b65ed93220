//! Prepares events for storage. The bodies and files of skills are replaced by their digests.

use prowess_tools::BuiltinTool;
use serde_json::{Map, Value, json};

use crate::TurnEvent;

/// The maximum number of bytes of a text in a tool result.
pub const STRING_MAX: usize = 16 * 1024;

/// The maximum nesting of a result or arguments. The JSON parser accepts a depth of 128, including the levels around
/// the value.
const DEPTH_MAX: usize = 100;

/// The keys under which our own tools return content of skills.
const CONTENT_KEYS: [&str; 2] = ["body", "content"];

/// Returns the event in its stored form. Idempotent.
///
/// ```
/// use prowess_chat::TurnEvent;
/// use prowess_chat::store::to_stored_event;
/// use serde_json::json;
///
/// let data = json!({"name": "pdf", "body": "Read the form first."});
/// let event = TurnEvent::ToolResult { id: "1".into(), name: "skills.activate".into(), status: "success".into(), data };
/// let TurnEvent::ToolResult { data, .. } = to_stored_event(event) else { unreachable!() };
/// assert_eq!(data["name"], "pdf");
/// assert_eq!(data["body"]["bytes"], 20);
/// assert!(data["body"]["digest"].as_str().unwrap().starts_with("sha256:"));
/// ```
pub fn to_stored_event(event: TurnEvent) -> TurnEvent {
    match event {
        // PostgreSQL cannot store U+0000, and a model that sends it must not fail its turn.
        TurnEvent::Delta { text } => TurnEvent::Delta { text: without_nul(text) },
        TurnEvent::Thinking { text, seal } => {
            // A seal belongs to the exact text.
            let seal = seal.filter(|_| !text.contains('\0'));
            TurnEvent::Thinking { text: without_nul(text), seal }
        }
        TurnEvent::ToolCall { id, name, arguments } => TurnEvent::ToolCall {
            id: without_nul(id),
            name: without_nul(name),
            arguments: if is_too_deep(&arguments) { too_deep() } else { arguments },
        },
        TurnEvent::ToolResult { id, name, status, data } => TurnEvent::ToolResult {
            id: without_nul(id),
            status: without_nul(status),
            data: stored_result(&name, data),
            name: without_nul(name),
        },
        TurnEvent::Summary { text, replaces } => TurnEvent::Summary { text: without_nul(text), replaces },
        TurnEvent::Waiting { reason, seconds } => TurnEvent::Waiting { reason: without_nul(reason), seconds },
        TurnEvent::ToolsDisabled { reason } => TurnEvent::ToolsDisabled { reason: without_nul(reason) },
        // All of its texts are escaped.
        TurnEvent::Consent { .. } | TurnEvent::Done { .. } | TurnEvent::Error { .. } => event,
    }
}

/// Returns the stored form of a tool result.
pub(crate) fn stored_result(tool: &str, data: Value) -> Value {
    if is_too_deep(&data) { too_deep() } else { shorten(data, BuiltinTool::from_name(tool).is_some()) }
}

fn shorten(value: Value, own_tool: bool) -> Value {
    match value {
        Value::String(text) => Value::String(truncate(text)),
        Value::Array(items) => items.into_iter().map(|item| shorten(item, own_tool)).collect(),
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|field| shorten_field(field, own_tool)).collect::<Map<_, _>>(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn shorten_field((key, value): (String, Value), own_tool: bool) -> (String, Value) {
    match value {
        Value::String(text) if own_tool && CONTENT_KEYS.contains(&key.as_str()) => {
            (key, json!({"digest": prowess::digest(text.as_bytes()), "bytes": text.len()}))
        }
        value => (key, shorten(value, own_tool)),
    }
}

/// Truncates a long text and adds a note.
fn truncate(text: String) -> String {
    if text.len() <= STRING_MAX {
        return text;
    }
    let note = format!("\n[cut: {} bytes in all, {}]", text.len(), prowess::digest(text.as_bytes()));
    let mut end = STRING_MAX - note.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{note}", &text[..end])
}

/// Returns `true` if the value is nested too deeply. Not recursive, to protect the stack.
fn is_too_deep(value: &Value) -> bool {
    let mut stack = vec![(value, 1)];
    while let Some((value, depth)) = stack.pop() {
        if depth > DEPTH_MAX {
            return true;
        }
        match value {
            Value::Array(items) => stack.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => stack.extend(fields.values().map(|item| (item, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

fn too_deep() -> Value {
    json!({"cut": format!("nested more than {DEPTH_MAX} levels deep")})
}

fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn result(name: &str, data: Value) -> Value {
        let event =
            TurnEvent::ToolResult { id: "1".into(), name: name.into(), status: "success".into(), data };
        let TurnEvent::ToolResult { data, .. } = to_stored_event(event) else { unreachable!() };
        data
    }

    #[test]
    fn bodies_are_replaced_by_digests_for_all_tool_names_and_depths() {
        let body = "Secret instructions.";
        for tool in ["skills.activate", "skills_activate", "Skill", "skills.readResource", "ReadFile"] {
            let data = result(tool, json!({"a": [{"content": body}], "body": body}));
            assert!(!data.to_string().contains("Secret"), "{tool}: {data}");
            assert_eq!(data["body"], json!({"digest": prowess::digest(body.as_bytes()), "bytes": 20}));
        }
    }

    #[test]
    fn results_of_skill_tools_are_unchanged() {
        let data = json!({"content": "3 °C"});
        assert_eq!(result("convert", data.clone()), data);
    }

    #[test]
    fn files_that_a_script_changed_are_stored() {
        let data = json!({
            "artifacts": [{"path": "out/a.csv", "size": 3, "media_type": "text/csv", "digest": "sha256:00"}],
            "removed": ["old.csv"],
        });
        assert_eq!(result("skills.run", data.clone()), data);
    }

    #[test]
    fn long_texts_are_truncated_with_a_note() {
        let text = "é".repeat(STRING_MAX);
        let data = result("skills.run", json!({"stdout": text}));
        let stored = data["stdout"].as_str().unwrap();
        assert!(stored.len() <= STRING_MAX && stored.len() > STRING_MAX - 4);
        let note = stored.split_once('\n').unwrap().1;
        assert_eq!(note, format!("[cut: 32768 bytes in all, {}]", prowess::digest(text.as_bytes())));
    }

    #[test]
    fn deeply_nested_values_are_not_stored() {
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(result("x", nested(DEPTH_MAX - 1)), nested(DEPTH_MAX - 1));
        assert_eq!(result("x", nested(DEPTH_MAX)), json!({"cut": "nested more than 100 levels deep"}));
        let call = TurnEvent::ToolCall { id: "1".into(), name: "x".into(), arguments: nested(DEPTH_MAX - 1) };
        let parsed: Vec<TurnEvent> =
            serde_json::from_str(&json!([to_stored_event(call.clone())]).to_string()).unwrap();
        assert_eq!(parsed, [call]);
    }

    #[test]
    fn nul_characters_are_replaced() {
        assert_eq!(
            to_stored_event(TurnEvent::Delta { text: "a\0b".into() }),
            TurnEvent::Delta { text: "a\u{fffd}b".into() }
        );
    }

    proptest! {
        #[test]
        fn storing_is_idempotent(
            text in "\\PC{0,40}",
            times in 1usize..2_000,
            key in "body|content|stdout|x",
            tool in "skills.activate|convert",
        ) {
            let once = result(&tool, json!({key: text.repeat(times), "also": [text]}));
            prop_assert_eq!(result(&tool, once.clone()), once);
        }
    }
}
