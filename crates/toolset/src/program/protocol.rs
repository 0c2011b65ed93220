//! What is said between Prowess and a program: one JSON object a line, in both directions. Pure.

use crate::fault::PROTOCOL;
use serde_json::{Map, Value, json};

use super::super::answer::{ToolCall, one_line};

/// The longest piece of a line that is quoted in a message, in characters.
const QUOTED: usize = 80;

/// What a program says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// Its tools.
    Tools { protocol: u64, tools: Vec<Value> },
    /// What the result of a call starts from.
    Progress { id: u64, title: Option<String>, metadata: Map<String, Value> },
    /// The result of a call.
    Result { id: u64, result: Map<String, Value> },
    /// A call that failed.
    Error { id: u64, message: String },
}

impl Message {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Tools { .. } => "tools",
            Self::Progress { .. } => "progress",
            Self::Result { .. } => "result",
            Self::Error { .. } => "error",
        }
    }
}

/// Asks for the tools.
pub(super) fn ask_tools() -> Vec<u8> {
    line(&json!({"type": "tools", "protocol": PROTOCOL}))
}

/// Asks for a call.
pub(super) fn ask_call(id: u64, call: &ToolCall) -> Vec<u8> {
    line(&json!({
        "type": "call", "id": id, "tool": call.id, "arguments": call.arguments, "context": call.context_value(),
    }))
}

/// Says that nobody waits for a call any more.
pub(super) fn cancel(id: u64) -> Vec<u8> {
    line(&json!({"type": "cancel", "id": id}))
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Reads a line. What is wrong is the rest of a sentence that begins with "wrote".
pub(super) fn read(line: &[u8], values_max: usize) -> Result<Message, String> {
    if values(line) > values_max {
        return Err(format!("a message of more than {values_max} values"));
    }
    let quoted = || {
        let text: String = String::from_utf8_lossy(line).chars().take(4 * QUOTED).collect();
        let text = one_line(&text);
        let start: String = text.chars().take(QUOTED).collect();
        if start.len() < text.len() { format!("{start}…") } else { start }
    };
    let mut message: Map<String, Value> =
        serde_json::from_slice(line).map_err(|_| format!("a line that is no JSON object: {}", quoted()))?;
    let kind = match message.remove("type") {
        Some(Value::String(kind)) => kind,
        _ => return Err(format!("a message without a type: {}", quoted())),
    };
    match kind.as_str() {
        "tools" => {
            let protocol = match message.remove("protocol") {
                None => PROTOCOL,
                Some(number) => {
                    number.as_u64().ok_or("a message of type tools whose protocol is no number")?
                }
            };
            let Some(Value::Array(tools)) = message.remove("tools") else {
                return Err("a message of type tools without an array of tools".to_owned());
            };
            Ok(Message::Tools { protocol, tools })
        }
        "progress" => Ok(Message::Progress {
            id: id(&mut message, &kind)?,
            title: text(&mut message, &kind, "title")?,
            metadata: object(&mut message, &kind)?,
        }),
        "result" => {
            let id = id(&mut message, &kind)?;
            let title = text(&mut message, &kind, "title")?;
            let metadata = object(&mut message, &kind)?;
            let output = text(&mut message, &kind, "output")?.ok_or("a result without an output")?;
            let attachments = match message.remove("attachments") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(attachments)) => attachments,
                Some(_) => return Err("a result whose attachments are no array".to_owned()),
            };
            let mut result = Map::new();
            if let Some(title) = title {
                result.insert("title".to_owned(), title.into());
            }
            result.insert("metadata".to_owned(), metadata.into());
            result.insert("output".to_owned(), output.into());
            result.insert("attachments".to_owned(), attachments.into());
            Ok(Message::Result { id, result })
        }
        "error" => Ok(Message::Error {
            id: id(&mut message, &kind)?,
            message: text(&mut message, &kind, "message")?.ok_or("an error without a message")?,
        }),
        _ => Err(format!(
            "a message of type {}; there are tools, progress, result and error",
            one_line(&kind.chars().take(QUOTED).collect::<String>())
        )),
    }
}

fn id(message: &mut Map<String, Value>, kind: &str) -> Result<u64, String> {
    let id = message.remove("id").and_then(|id| id.as_u64());
    id.ok_or_else(|| format!("a message of type {kind} without the id of a call"))
}

fn text(message: &mut Map<String, Value>, kind: &str, key: &str) -> Result<Option<String>, String> {
    match message.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("a message of type {kind} whose {key} is no text")),
    }
}

fn object(message: &mut Map<String, Value>, kind: &str) -> Result<Map<String, Value>, String> {
    match message.remove("metadata") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(metadata)) => Ok(metadata),
        Some(_) => Err(format!("a message of type {kind} whose metadata is no object")),
    }
}

/// At least as many values as the text has, if it is JSON: reading it takes far more memory than its bytes.
fn values(line: &[u8]) -> usize {
    let (mut count, mut inside, mut escaped) = (1, false, false);
    for byte in line {
        match (inside, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => inside = !inside,
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

    fn wrong(line: &str) -> String {
        read(line.as_bytes(), 1000).unwrap_err()
    }

    #[test]
    fn what_is_no_message_is_named() {
        let told: Vec<_> = [
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
        .map(wrong)
        .to_vec();
        insta::assert_snapshot!(told.join("\n"));
        assert!(wrong(&"x".repeat(500)).ends_with('…'));
        assert_eq!(wrong(&format!("[{}]", "1,".repeat(2000))), "a message of more than 1000 values");
    }

    #[test]
    fn messages_are_read() {
        let tools = read(br#"{"type":"tools","tools":[{}]}"#, 9);
        assert_eq!(tools, Ok(Message::Tools { protocol: 1, tools: vec![json!({})] }));
        let result = read(br#"{"type":"result","id":3,"output":"o","more":1}"#, 9);
        let wanted = json!({"metadata": {}, "output": "o", "attachments": []});
        assert_eq!(result, Ok(Message::Result { id: 3, result: wanted.as_object().unwrap().clone() }));
        let error = read(br#"{"type":"error","id":3,"message":"no"}"#, 9);
        assert_eq!(error, Ok(Message::Error { id: 3, message: "no".into() }));
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

    fn counted(value: &Value) -> usize {
        match value {
            Value::Array(list) => 1 + list.iter().map(counted).sum::<usize>(),
            Value::Object(map) => 1 + map.values().map(counted).sum::<usize>(),
            _ => 1,
        }
    }

    proptest! {
        #[test]
        fn never_fewer_values_are_counted_than_there_are(value in json_value()) {
            prop_assert!(values(value.to_string().as_bytes()) >= counted(&value));
        }

        #[test]
        fn any_line_is_read_or_refused_in_one_line(line in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Err(why) = read(&line, 1000) {
                prop_assert!(!why.contains('\n') && why.len() < 1000);
            }
        }
    }
}
