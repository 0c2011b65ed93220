//! The messages between Prowess and a program: one JSON object per line, in both directions.

use crate::program_fault::PROTOCOL_VERSION;
use serde_json::{Map, Value, json};

use super::super::response::{ToolCall, one_line};

/// The maximum number of characters of a line to quote in a message.
const QUOTED_MAX: usize = 80;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ProgramMessage {
    /// The list of tools.
    Tools { protocol: u64, tools: Vec<Value> },
    /// A title and metadata for the result of a running call. Those of the result itself take precedence.
    Progress { id: u64, title: Option<String>, metadata: Map<String, Value> },
    /// The result of a call.
    Result { id: u64, result: Map<String, Value> },
    /// The error of a call.
    Error { id: u64, message: String },
}

impl ProgramMessage {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Tools { .. } => "tools",
            Self::Progress { .. } => "progress",
            Self::Result { .. } => "result",
            Self::Error { .. } => "error",
        }
    }
}

pub(super) fn tools_request() -> Vec<u8> {
    to_line(&json!({"type": "tools", "protocol": PROTOCOL_VERSION}))
}

pub(super) fn call_request(id: u64, call: &ToolCall) -> Vec<u8> {
    to_line(&json!({
        "type": "call", "id": id, "tool": call.id, "arguments": call.arguments, "context": call.context_value(),
    }))
}

/// Creates a notification that a call was cancelled.
pub(super) fn cancel_notice(id: u64) -> Vec<u8> {
    to_line(&json!({"type": "cancel", "id": id}))
}

fn to_line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Parses a line. The error message is the rest of a sentence that starts with "wrote".
pub(super) fn parse_message(line: &[u8], values_max: usize) -> Result<ProgramMessage, String> {
    if max_value_count(line) > values_max {
        return Err(format!("a message with more than {values_max} values"));
    }
    let quoted = || {
        let text: String = String::from_utf8_lossy(line).chars().take(4 * QUOTED_MAX).collect();
        let text = one_line(&text);
        let start: String = text.chars().take(QUOTED_MAX).collect();
        if start.len() < text.len() { format!("{start}…") } else { start }
    };
    let mut message: Map<String, Value> = serde_json::from_slice(line)
        .map_err(|_| format!("a line that is not a JSON object: {}", quoted()))?;
    let kind = match message.remove("type") {
        Some(Value::String(kind)) => kind,
        _ => return Err(format!("a message without a type: {}", quoted())),
    };
    match kind.as_str() {
        "tools" => {
            let protocol = match message.remove("protocol") {
                None => PROTOCOL_VERSION,
                Some(number) => {
                    number.as_u64().ok_or("a message of type tools whose protocol is not a number")?
                }
            };
            let Some(Value::Array(tools)) = message.remove("tools") else {
                return Err("a message of type tools without an array of tools".to_owned());
            };
            Ok(ProgramMessage::Tools { protocol, tools })
        }
        "progress" => Ok(ProgramMessage::Progress {
            id: take_id(&mut message, &kind)?,
            title: take_text(&mut message, &kind, "title")?,
            metadata: take_metadata(&mut message, &kind)?,
        }),
        "result" => {
            let id = take_id(&mut message, &kind)?;
            let title = take_text(&mut message, &kind, "title")?;
            let metadata = take_metadata(&mut message, &kind)?;
            let output = take_text(&mut message, &kind, "output")?.ok_or("a result without an output")?;
            let attachments = match message.remove("attachments") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(attachments)) => attachments,
                Some(_) => return Err("a result whose attachments are not an array".to_owned()),
            };
            let mut result = Map::new();
            if let Some(title) = title {
                result.insert("title".to_owned(), title.into());
            }
            result.insert("metadata".to_owned(), metadata.into());
            result.insert("output".to_owned(), output.into());
            result.insert("attachments".to_owned(), attachments.into());
            Ok(ProgramMessage::Result { id, result })
        }
        "error" => Ok(ProgramMessage::Error {
            id: take_id(&mut message, &kind)?,
            message: take_text(&mut message, &kind, "message")?.ok_or("an error without a message")?,
        }),
        _ => Err(format!(
            "a message of unknown type {}; expected tools, progress, result or error",
            one_line(&kind.chars().take(QUOTED_MAX).collect::<String>())
        )),
    }
}

fn take_id(message: &mut Map<String, Value>, kind: &str) -> Result<u64, String> {
    let id = message.remove("id").and_then(|id| id.as_u64());
    id.ok_or_else(|| format!("a message of type {kind} without a call id"))
}

fn take_text(message: &mut Map<String, Value>, kind: &str, key: &str) -> Result<Option<String>, String> {
    match message.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("a message of type {kind} whose {key} is not a string")),
    }
}

fn take_metadata(message: &mut Map<String, Value>, kind: &str) -> Result<Map<String, Value>, String> {
    match message.remove("metadata") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(metadata)) => Ok(metadata),
        Some(_) => Err(format!("a message of type {kind} whose metadata is not an object")),
    }
}

/// Returns an upper bound for the number of JSON values, without parsing: parsed values need far more memory than
/// their text.
fn max_value_count(line: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for byte in line {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b',' | b'[' | b'{') => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error_for(line: &str) -> String {
        parse_message(line.as_bytes(), 1000).unwrap_err()
    }

    #[test]
    fn invalid_messages_are_described() {
        let errors: Vec<_> = [
            "hello",
            "[1]",
            "{\"id\": 1}",
            "{\"type\": 5}",
            "{\"type\": \"ping\"}",
            "{\"type\": \"tools\"}",
            "{\"type\": \"tools\", \"tools\": {}, \"protocol\": 1}",
            "{\"type\": \"tools\", \"tools\": [], \"protocol\": \"x\"}",
            "{\"type\": \"result\", \"output\": \"x\"}",
            "{\"type\": \"result\", \"id\": -1, \"output\": \"x\"}",
            "{\"type\": \"result\", \"id\": 1}",
            "{\"type\": \"result\", \"id\": 1, \"output\": 5}",
            "{\"type\": \"result\", \"id\": 1, \"output\": \"\", \"metadata\": []}",
            "{\"type\": \"result\", \"id\": 1, \"output\": \"\", \"attachments\": {}}",
            "{\"type\": \"result\", \"id\": 1, \"output\": \"\", \"title\": 1}",
            "{\"type\": \"error\", \"id\": 1}",
            "{\"type\": \"progress\", \"title\": \"x\"}",
            "\u{1b}[31mred \u{200b}hidden",
        ]
        .map(error_for)
        .to_vec();
        insta::assert_snapshot!(errors.join("\n"));
        assert!(error_for(&"x".repeat(500)).ends_with('…'));
        assert_eq!(error_for(&format!("[{}]", "1,".repeat(2000))), "a message with more than 1000 values");
    }

    #[test]
    fn messages_are_parsed() {
        let tools = parse_message(br#"{"type":"tools","tools":[{}]}"#, 9);
        assert_eq!(tools, Ok(ProgramMessage::Tools { protocol: 1, tools: vec![json!({})] }));
        let result = parse_message(br#"{"type":"result","id":3,"output":"o","more":1}"#, 9);
        let expected = json!({"metadata": {}, "output": "o", "attachments": []});
        assert_eq!(
            result,
            Ok(ProgramMessage::Result { id: 3, result: expected.as_object().unwrap().clone() })
        );
        let error = parse_message(br#"{"type":"error","id":3,"message":"no"}"#, 9);
        assert_eq!(error, Ok(ProgramMessage::Error { id: 3, message: "no".into() }));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..8)
                    .prop_map(|map| Value::Object(map.into_iter().collect()))
            ]
        })
    }

    fn exact_count(value: &Value) -> usize {
        match value {
            Value::Array(list) => 1 + list.iter().map(exact_count).sum::<usize>(),
            Value::Object(map) => 1 + map.values().map(exact_count).sum::<usize>(),
            _ => 1,
        }
    }

    proptest! {
        #[test]
        fn the_count_is_an_upper_bound(value in json_value()) {
            prop_assert!(max_value_count(value.to_string().as_bytes()) >= exact_count(&value));
        }

        #[test]
        fn any_line_is_parsed_or_refused_with_a_short_message(line in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Err(error) = parse_message(&line, 1000) {
                prop_assert!(!error.contains('\n') && error.len() < 1000);
            }
        }
    }
}
