//! What is kept of what happens in a turn. The bodies and files of skills are not: whoever wants them reads them from the
//! skill, and the digest says which bytes they were.

use prowess_tools::Tool;
use serde_json::{Map, Value, json};

use crate::Event;

/// The most bytes of one text in a tool's answer.
pub const STRING_MAX: usize = 16 * 1024;

/// How deeply an answer or arguments may be nested. What is deeper could not be read back: JSON is read to a depth of 128, and
/// stands a few levels deep itself.
const DEPTH_MAX: usize = 100;

/// The keys below which our own tools hand out what belongs to a skill.
const BODIES: [&str; 2] = ["body", "content"];

/// The event as it is kept and as everybody sees it. Doing it twice changes nothing more.
///
/// ```
/// use prowess_chat::Event;
/// use prowess_chat::store::kept;
/// use serde_json::json;
///
/// let data = json!({"name": "pdf", "body": "Read the form first."});
/// let event = Event::ToolResult { id: "1".into(), name: "skills.activate".into(), status: "success".into(), data };
/// let Event::ToolResult { data, .. } = kept(event) else { unreachable!() };
/// assert_eq!(data["name"], "pdf");
/// assert_eq!(data["body"]["bytes"], 20);
/// assert!(data["body"]["digest"].as_str().unwrap().starts_with("sha256:"));
/// ```
pub fn kept(event: Event) -> Event {
    match event {
        // A model that says U+0000 must not end its turn with that: PostgreSQL could not keep it.
        Event::Delta { text } => Event::Delta { text: without_nul(text) },
        Event::ToolCall { id, name, arguments } => Event::ToolCall {
            id: without_nul(id),
            name: without_nul(name),
            arguments: if is_deep(&arguments) { too_deep() } else { arguments },
        },
        Event::ToolResult { id, name, status, data } => Event::ToolResult {
            id: without_nul(id),
            status: without_nul(status),
            data: summary(&name, data),
            name: without_nul(name),
        },
        Event::Done { .. } | Event::Error { .. } => event,
    }
}

/// What is kept of a tool's answer.
pub(crate) fn summary(tool: &str, data: Value) -> Value {
    if is_deep(&data) { too_deep() } else { shortened(data, Tool::named(tool).is_some()) }
}

fn shortened(value: Value, ours: bool) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text)),
        Value::Array(items) => items.into_iter().map(|item| shortened(item, ours)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|field| by_digest(field, ours)).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn by_digest((key, value): (String, Value), ours: bool) -> (String, Value) {
    match value {
        Value::String(text) if ours && BODIES.contains(&key.as_str()) => {
            (key, json!({"digest": prowess::digest(text.as_bytes()), "bytes": text.len()}))
        }
        value => (key, shortened(value, ours)),
    }
}

/// A long text loses its end, and says so.
fn cut(text: String) -> String {
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

/// Without recursion: what is too deep for us must not be too deep for the stack.
fn is_deep(value: &Value) -> bool {
    let mut left = vec![(value, 1)];
    while let Some((value, depth)) = left.pop() {
        if depth > DEPTH_MAX {
            return true;
        }
        match value {
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => left.extend(fields.values().map(|item| (item, depth + 1))),
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
        let event = Event::ToolResult { id: "1".into(), name: name.into(), status: "success".into(), data };
        let Event::ToolResult { data, .. } = kept(event) else { unreachable!() };
        data
    }

    #[test]
    fn bodies_are_named_by_their_digest_in_either_spelling_and_at_any_depth() {
        let body = "Secret instructions.";
        for tool in ["skills.activate", "skills_activate", "Skill", "skills.readResource", "ReadFile"] {
            let data = result(tool, json!({"a": [{"content": body}], "body": body}));
            assert!(!data.to_string().contains("Secret"), "{tool}: {data}");
            assert_eq!(data["body"], json!({"digest": prowess::digest(body.as_bytes()), "bytes": 20}));
        }
    }

    #[test]
    fn what_tools_of_skills_answer_is_theirs() {
        let data = json!({"content": "3 °C"});
        assert_eq!(result("convert", data.clone()), data);
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let text = "é".repeat(STRING_MAX);
        let data = result("skills.run", json!({"stdout": text}));
        let kept = data["stdout"].as_str().unwrap();
        assert!(kept.len() <= STRING_MAX && kept.len() > STRING_MAX - 4);
        let note = kept.split_once('\n').unwrap().1;
        assert_eq!(note, format!("[cut: 32768 bytes in all, {}]", prowess::digest(text.as_bytes())));
    }

    #[test]
    fn what_could_not_be_read_back_is_not_kept() {
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(result("x", nested(DEPTH_MAX - 1)), nested(DEPTH_MAX - 1));
        assert_eq!(result("x", nested(DEPTH_MAX)), json!({"cut": "nested more than 100 levels deep"}));
        let call = Event::ToolCall { id: "1".into(), name: "x".into(), arguments: nested(DEPTH_MAX - 1) };
        let read: Vec<Event> = serde_json::from_str(&json!([kept(call.clone())]).to_string()).unwrap();
        assert_eq!(read, [call]);
    }

    #[test]
    fn a_model_cannot_say_nul() {
        assert_eq!(kept(Event::Delta { text: "a\0b".into() }), Event::Delta { text: "a\u{fffd}b".into() });
    }

    proptest! {
        #[test]
        fn doing_it_twice_changes_nothing_more(
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
