//! What a client is told when what it sent is no message.

use rmcp::ErrorData;
use rmcp::model::{ErrorCode, RequestId};
use serde_json::{Value, json};

/// Whose request it would be, and what is wrong with it.
pub(crate) fn why(bytes: &[u8]) -> (Option<RequestId>, ErrorData) {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("this is not JSON: {error}");
            return (None, ErrorData::new(ErrorCode::PARSE_ERROR, message, None));
        }
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let message = match &value {
        Value::Array(_) => "batches are not taken; send one message at a time",
        Value::Object(object) if object.get("jsonrpc") != Some(&"2.0".into()) => "jsonrpc has to be \"2.0\"",
        Value::Object(object) if object.contains_key("method") => "this is no request and no notification",
        Value::Object(_) => "there is no method",
        _ => "a message is an object",
    };
    (id, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}

/// Whether it is a notification all the same, though nobody knows what it says: those are never answered.
pub(crate) fn is_notification(bytes: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    value.get("jsonrpc") == Some(&"2.0".into())
        && value.get("id").is_none()
        && value.get("method").is_some_and(Value::is_string)
}

/// The answer. The protocol's own types have no room for one to nobody.
pub(crate) fn answer(id: Option<RequestId>, error: &ErrorData) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_code() {
        let said = |text: &str| {
            let (id, error) = why(text.as_bytes());
            format!("{} {} {}", json!(id), error.code.0, error.message)
        };
        assert_eq!(said("{"), "null -32700 this is not JSON: EOF while parsing an object at line 1 column 1");
        assert_eq!(said("[]"), "null -32600 batches are not taken; send one message at a time");
        assert_eq!(said("3"), "null -32600 a message is an object");
        assert_eq!(said(r#"{"id":7}"#), r#"7 -32600 jsonrpc has to be "2.0""#);
        assert_eq!(said(r#"{"jsonrpc":"2.0","id":"a"}"#), r#""a" -32600 there is no method"#);
        assert!(is_notification(br#"{"jsonrpc":"2.0","method":"m","params":[1]}"#));
        assert!(!is_notification(br#"{"jsonrpc":"2.0","method":7}"#) && !is_notification(b"{"));
        let no_id = r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#;
        assert_eq!(said(no_id), "null -32600 this is no request and no notification");
    }
}
