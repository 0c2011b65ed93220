//! Interprets error responses of servers.

use std::time::Duration;

use prowess::contained::strip_terminal_escapes;
use serde_json::Value;

use super::super::error::ModelError;

/// The maximum number of characters of a server's message that are shown.
const MESSAGE_CHARS_MAX: usize = 400;

/// A response with an error status.
pub(super) struct FailedResponse<'a> {
    pub(super) status: u16,
    pub(super) body: &'a str,
    pub(super) retry_after: Option<Duration>,
    /// Whether tools were offered.
    pub(super) tools: bool,
}

impl FailedResponse<'_> {
    pub(super) fn into_error(self) -> ModelError {
        let Self { status, body, retry_after, tools } = self;
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let message = match error_message(&value) {
            Some(message) => sanitize_message(message),
            None if body.trim().is_empty() => "no reason given".to_owned(),
            None => sanitize_message(body),
        };
        let code = error_code(&value);
        if tools && lacks_tools(&message) {
            return ModelError::NoTools(message);
        }
        if is_too_long(code, &message) || status == 413 {
            return ModelError::TooLong(message);
        }
        match status {
            401 | 403 => ModelError::KeyRejected { status, message },
            429 => ModelError::Busy { status, message, retry_after, retryable: code != "insufficient_quota" },
            503 | 529 => ModelError::Busy { status, message, retry_after, retryable: true },
            408 | 409 | 425 | 500..=599 => ModelError::ServerError { status, message, retry_after },
            _ => ModelError::Rejected { status, message },
        }
    }
}

/// Interprets an error in the middle of a stream.
pub(in super::super) fn stream_error(error: &Value) -> ModelError {
    let code = error_code(error);
    let message = error_message(error).map_or_else(|| sanitize_message(code), sanitize_message);
    if is_too_long(code, &message) {
        return ModelError::TooLong(message);
    }
    let retryable = [
        "overloaded_error",
        "api_error",
        "rate_limit_error",
        "timeout_error",
        "server_error",
        "rate_limit_exceeded",
        "internal_server_error",
    ];
    let retryable = retryable.contains(&code);
    let message = match (message.is_empty(), code.is_empty() || message.contains(code)) {
        (true, _) => "no reason given".to_owned(),
        (false, true) => message,
        (false, false) => format!("{message} ({})", sanitize_message(code)),
    };
    ModelError::StreamError { message, retryable }
}

/// Returns the message of an error response; servers use different formats.
fn error_message(value: &Value) -> Option<&str> {
    let inner = value.get("error").unwrap_or(value);
    let candidates = [inner.get("message"), Some(inner), value.get("message"), value.get("detail")];
    candidates.into_iter().flatten().filter_map(Value::as_str).find(|text| !text.trim().is_empty())
}

/// Returns the kind of an error as a word.
fn error_code(value: &Value) -> &str {
    let inner = value.get("error").unwrap_or(value);
    let codes = [inner.get("code"), inner.get("type")];
    codes.into_iter().flatten().filter_map(Value::as_str).find(|code| *code != "error").unwrap_or_default()
}

/// Returns `true` if the message says that the model cannot call tools.
fn lacks_tools(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "does not support tool",
        "not support tool",
        "does not support function",
        "not support function call",
        "that support tool use",
        "tools are not supported",
        "tool use is not supported",
        "tool calling is not supported",
        "tool calls are not supported",
        "function calling is not supported",
        "function calling is not enabled",
        "enable-auto-tool-choice",
        "tools param requires",
        "'tools' is not supported",
        "unsupported parameter: tools",
        "unsupported parameter: 'tools'",
    ]
    .iter()
    .any(|phrase| message.contains(phrase))
}

/// Returns `true` if the message says that the conversation is too long.
fn is_too_long(code: &str, message: &str) -> bool {
    let message = message.to_lowercase();
    code == "context_length_exceeded"
        || code == "exceed_context_size_error"
        || ["prompt is too long", "maximum context length", "context window", "available context size"]
            .iter()
            .any(|phrase| message.contains(phrase))
}

/// Returns untrusted text on one line, without escape sequences, and truncated.
pub(in super::super) fn sanitize_message(text: &str) -> String {
    let text = strip_terminal_escapes(text.chars().take(4 * MESSAGE_CHARS_MAX).collect());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_for(status: u16, body: &str) -> ModelError {
        FailedResponse { status, body, retry_after: None, tools: true }.into_error()
    }

    #[test]
    fn error_responses_are_interpreted() {
        let lines: Vec<String> = [
            (401, r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#),
            (400, r#"{"error":{"message":"Unknown model","type":"invalid_request_error","code":null}}"#),
            (400, r#"{"error":{"message":"too many","code":"context_length_exceeded"}}"#),
            (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#),
            (400, r#"{"error":"gemma:2b does not support tools"}"#),
            (404, r#"{"error":{"message":"No endpoints found that support tool use","code":404}}"#),
            (400, r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}"#),
            (500, r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#),
            (429, r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            (502, "<html><body>Bad\n  Gateway \u{1b}[31mred</body></html>"),
            (422, r#"{"detail":"nope"}"#),
            (413, ""),
            (418, ""),
        ]
        .into_iter()
        .map(|(status, body)| {
            let error = error_for(status, body);
            format!("{} {} retryable={}", error.code(), error, error.is_retryable())
        })
        .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn tool_errors_are_ignored_if_no_tools_were_sent() {
        let failed = FailedResponse {
            status: 400,
            body: r#"{"error":"does not support tools"}"#,
            retry_after: None,
            tools: false,
        };
        assert!(matches!(failed.into_error(), ModelError::Rejected { .. }));
    }

    #[test]
    fn long_messages_are_truncated() {
        assert_eq!(sanitize_message(&"ä".repeat(5_000)).chars().count(), MESSAGE_CHARS_MAX + 1);
    }
}
