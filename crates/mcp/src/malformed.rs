//! Error responses to invalid messages.

use rmcp::ErrorData;
use rmcp::model::{ErrorCode, RequestId};
use serde_json::{Value, json};

/// Returns the id of an invalid message and its error.
pub(crate) fn describe_error(bytes: &[u8]) -> (Option<RequestId>, ErrorData) {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("invalid JSON: {error}");
            return (None, ErrorData::new(ErrorCode::PARSE_ERROR, message, None));
        }
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let message = match &value {
        Value::Array(_) => "batches are not supported; send one message at a time",
        Value::Object(object) if object.get("jsonrpc") != Some(&"2.0".into()) => "jsonrpc must be \"2.0\"",
        Value::Object(object) if object.contains_key("method") => {
            "the message is neither a request nor a notification"
        }
        Value::Object(_) => "the method is missing",
        _ => "a message must be an object",
    };
    (id, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}

/// Returns `true` if the message is an invalid notification, which gets no response.
pub(crate) fn is_notification(bytes: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    value.get("jsonrpc") == Some(&"2.0".into())
        && value.get("id").is_none()
        && value.get("method").is_some_and(Value::is_string)
}

/// Returns the error response. The types of the SDK do not support a response without an id.
pub(crate) fn error_response(id: Option<RequestId>, error: &ErrorData) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_a_code() {
        let describe = |text: &str| {
            let (id, error) = describe_error(text.as_bytes());
            format!("{} {} {}", json!(id), error.code.0, error.message)
        };
        assert_eq!(describe("{"), "null -32700 invalid JSON: EOF while parsing an object at line 1 column 1");
        assert_eq!(describe("[]"), "null -32600 batches are not supported; send one message at a time");
        assert_eq!(describe("3"), "null -32600 a message must be an object");
        assert_eq!(describe(r#"{"id":7}"#), r#"7 -32600 jsonrpc must be "2.0""#);
        assert_eq!(describe(r#"{"jsonrpc":"2.0","id":"a"}"#), r#""a" -32600 the method is missing"#);
        assert!(is_notification(br#"{"jsonrpc":"2.0","method":"m","params":[1]}"#));
        assert!(!is_notification(br#"{"jsonrpc":"2.0","method":7}"#) && !is_notification(b"{"));
        let no_id = r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#;
        assert_eq!(describe(no_id), "null -32600 the message is neither a request nor a notification");
    }
}
