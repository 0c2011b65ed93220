//! What a server says when it fails, and what that means. Pure.

use std::time::Duration;

use prowess::contained::without_escapes;
use serde_json::Value;

use super::super::error::ModelError;

/// The most characters of a server's words that are passed on.
const SAID_MAX: usize = 400;

/// An answer with a status that is not a success.
pub(super) struct Failed<'a> {
    pub(super) status: u16,
    pub(super) body: &'a str,
    pub(super) again: Option<Duration>,
    /// Whether tools were offered.
    pub(super) tools: bool,
}

impl Failed<'_> {
    pub(super) fn judge(self) -> ModelError {
        let Self { status, body, again, tools } = self;
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let message = match message_of(&value) {
            Some(message) => said(message),
            None if body.trim().is_empty() => "no reason given".to_owned(),
            None => said(body),
        };
        let code = code_of(&value);
        if tools && lacks_tools(&message) {
            return ModelError::NoTools(message);
        }
        if is_too_long(code, &message) || status == 413 {
            return ModelError::TooLong(message);
        }
        match status {
            401 | 403 => ModelError::Key { status, message },
            429 => ModelError::Busy { status, message, again, passing: code != "insufficient_quota" },
            503 | 529 => ModelError::Busy { status, message, again, passing: true },
            408 | 409 | 425 | 500..=599 => ModelError::OutOfOrder { status, message, again },
            _ => ModelError::Refused { status, message },
        }
    }
}

/// An error that is told in the middle of a stream.
pub(in super::super) fn reported(error: &Value) -> ModelError {
    let code = code_of(error);
    let message = message_of(error).map_or_else(|| said(code), said);
    if is_too_long(code, &message) {
        return ModelError::TooLong(message);
    }
    let passing = [
        "overloaded_error",
        "api_error",
        "rate_limit_error",
        "timeout_error",
        "server_error",
        "rate_limit_exceeded",
        "internal_server_error",
    ];
    let passing = passing.contains(&code);
    let message = match (message.is_empty(), code.is_empty() || message.contains(code)) {
        (true, _) => "no reason given".to_owned(),
        (false, true) => message,
        (false, false) => format!("{message} ({})", said(code)),
    };
    ModelError::Reported { message, passing }
}

/// The words among what servers send: each has its own form.
fn message_of(value: &Value) -> Option<&str> {
    let inner = value.get("error").unwrap_or(value);
    let candidates = [inner.get("message"), Some(inner), value.get("message"), value.get("detail")];
    candidates.into_iter().flatten().filter_map(Value::as_str).find(|text| !text.trim().is_empty())
}

/// The kind of an error, as a word.
fn code_of(value: &Value) -> &str {
    let inner = value.get("error").unwrap_or(value);
    let words = [inner.get("code"), inner.get("type")];
    words.into_iter().flatten().filter_map(Value::as_str).find(|word| *word != "error").unwrap_or_default()
}

/// How servers say that a model cannot call tools.
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
    .any(|words| message.contains(words))
}

/// How servers say that a conversation is too long.
fn is_too_long(code: &str, message: &str) -> bool {
    let message = message.to_lowercase();
    code == "context_length_exceeded"
        || code == "exceed_context_size_error"
        || ["prompt is too long", "maximum context length", "context window", "available context size"]
            .iter()
            .any(|words| message.contains(words))
}

/// Foreign words on one line, without escapes, and not endless.
pub(in super::super) fn said(text: &str) -> String {
    let text = without_escapes(text.chars().take(4 * SAID_MAX).collect());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SAID_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(status: u16, body: &str) -> ModelError {
        Failed { status, body, again: None, tools: true }.judge()
    }

    #[test]
    fn what_servers_say_and_what_it_means() {
        let told: Vec<String> = [
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
            let error = judge(status, body);
            format!("{} {} passing={}", error.code(), error, error.is_passing())
        })
        .collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn without_tools_nobody_complains_of_them() {
        let failed =
            Failed { status: 400, body: r#"{"error":"does not support tools"}"#, again: None, tools: false };
        assert!(matches!(failed.judge(), ModelError::Refused { .. }));
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(said(&"ä".repeat(5_000)).chars().count(), SAID_MAX + 1);
    }
}
