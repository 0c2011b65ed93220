//! Checks requests as the providers do, so that a test fails where a provider would reject a request.

use serde_json::{Value, json};

use super::RecordedRequest;

/// The maximum number of cache marks in a request.
const CACHE_MARKS_MAX: usize = 4;

/// Returns why the provider of this path would reject a request.
pub fn validate_request(request: &RecordedRequest) -> Result<(), String> {
    let body = &request.body;
    match request.path.rsplit('/').next().unwrap_or_default() {
        "messages" => anthropic(body),
        "responses" => responses(body),
        "completions" => completions(body),
        _ => Ok(()),
    }
}

/// Returns the error response of a provider for an invalid request.
pub(super) fn rejection(message: &str) -> String {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}).to_string()
}

/// Returns the signature of a thinking block.
pub(super) fn signature(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("sig_{hash:016x}")
}

/// Returns the encrypted content of a reasoning item.
pub(super) fn encrypted_content(id: &str) -> String {
    format!("enc_{id}")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn check(valid: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if valid { Ok(()) } else { Err(message()) }
}

fn anthropic(body: &Value) -> Result<(), String> {
    let max_tokens = body["max_tokens"].as_u64().unwrap_or_default();
    check(max_tokens > 0, || "max_tokens: Field required".to_owned())?;
    let messages = list(&body["messages"]);
    check(!messages.is_empty(), || "messages: at least one message is required".to_owned())?;
    check(messages[0]["role"] == "user", || "messages: first message must use the \"user\" role".to_owned())?;
    let mut marks =
        list(&body["system"]).iter().chain(list(&body["tools"])).filter(|block| is_marked(block)).count();
    let mut open: Vec<&str> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let at = |problem: &str| format!("messages.{number}: {problem}");
        let content = list(&message["content"]);
        check(!content.is_empty(), || at("content must not be empty"))?;
        marks += content.iter().filter(|block| is_marked(block)).count();
        let results: Vec<&str> = content.iter().filter_map(|block| block["tool_use_id"].as_str()).collect();
        check(open.iter().all(|id| results.contains(id)), || {
            at("`tool_use` ids were found without `tool_result` blocks immediately after")
        })?;
        check(results.iter().all(|id| open.contains(id)), || {
            at("unexpected `tool_use_id` found in `tool_result` blocks")
        })?;
        open = content
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .filter_map(|block| block["id"].as_str())
            .collect();
        for block in content {
            anthropic_block(block).map_err(|problem| at(&problem))?;
        }
    }
    check(open.is_empty(), || "`tool_use` ids were found without `tool_result` blocks".to_owned())?;
    check(marks <= CACHE_MARKS_MAX, || {
        format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}.")
    })?;
    let thinking = &body["thinking"];
    if thinking["type"] == "enabled" {
        let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
        check(budget >= 1_024, || {
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024".to_owned()
        })?;
        check(budget < max_tokens, || {
            "`max_tokens` must be greater than `thinking.budget_tokens`".to_owned()
        })?;
        check_tool_loop(messages)?;
    }
    let thinks = matches!(thinking["type"].as_str(), Some("enabled" | "adaptive"));
    check(!thinks || body.get("temperature").is_none_or(|value| *value == 1), || {
        "`temperature` may only be set to 1 when thinking is enabled".to_owned()
    })
}

fn is_marked(block: &Value) -> bool {
    block.get("cache_control").is_some()
}

fn anthropic_block(block: &Value) -> Result<(), String> {
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            let text = block["text"].as_str().unwrap_or_default();
            check(!text.trim().is_empty(), || "text content blocks must be non-empty".to_owned())
        }
        "thinking" => {
            let text = block["thinking"].as_str().ok_or("thinking: Field required")?;
            check(block["signature"] == signature(text), || {
                "Invalid `signature` in `thinking` block".to_owned()
            })?;
            check(!is_marked(block), || "thinking blocks cannot have cache_control".to_owned())
        }
        "redacted_thinking" => {
            check(block["data"].as_str().is_some_and(|data| data.starts_with("red_")), || {
                "Invalid `data` in `redacted_thinking` block".to_owned()
            })
        }
        "tool_use" | "tool_result" => Ok(()),
        other => Err(format!("unknown block type {other}")),
    }
}

/// Checks that the calls since the last message of the user start with thinking.
fn check_tool_loop(messages: &[Value]) -> Result<(), String> {
    let is_question = |message: &Value| {
        message["role"] == "user"
            && list(&message["content"]).iter().any(|block| block["type"] != "tool_result")
    };
    let start = messages.iter().rposition(is_question).map_or(0, |question| question + 1);
    let Some(first) = messages.get(start) else { return Ok(()) };
    let kind = &list(&first["content"])[0]["type"];
    check(kind == "thinking" || kind == "redacted_thinking", || {
        format!(
            "messages.{start}.content.0.type: Expected `thinking` or `redacted_thinking`, but found {kind}"
        )
    })
}

fn responses(body: &Value) -> Result<(), String> {
    let items = list(&body["input"]);
    check(!items.is_empty(), || "input: at least one item is required".to_owned())?;
    let mut open: Vec<&str> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let at = |problem: &str| format!("input[{number}]: {problem}");
        match item["type"].as_str() {
            Some("function_call") => open.extend(item["call_id"].as_str()),
            Some("function_call_output") => {
                let id = item["call_id"].as_str().unwrap_or_default();
                let position = open.iter().position(|call| *call == id);
                open.remove(position.ok_or_else(|| at("No tool call found for function call output"))?);
            }
            Some("reasoning") => {
                let id = item["id"].as_str().unwrap_or_default();
                check(item["encrypted_content"] == encrypted_content(id), || {
                    at("The encrypted content could not be verified")
                })?;
                check(item["summary"].is_array(), || at("Missing required parameter: 'summary'"))?;
                let next = items.get(number + 1);
                let follows = next.is_some_and(|next| {
                    next["role"] == "assistant"
                        || next["type"] == "function_call"
                        || next["type"] == "reasoning"
                });
                check(follows, || {
                    at("Item of type 'reasoning' was provided without its required following item")
                })?;
            }
            Some(other) => return Err(at(&format!("unknown type {other}"))),
            None => check(item["content"].as_str().is_some_and(|text| !text.is_empty()), || {
                at("content is empty")
            })?,
        }
    }
    check(open.is_empty(), || "No tool output found for function call".to_owned())
}

fn completions(body: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (number, message) in list(&body["messages"]).iter().enumerate() {
        let at = |problem: &str| format!("messages[{number}]: {problem}");
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let position = open.iter().position(|call| *call == id);
            open.remove(position.ok_or_else(|| at("a tool message without a preceding tool call"))?);
            continue;
        }
        check(open.is_empty(), || at("tool_call_ids did not have response messages"))?;
        open = list(&message["tool_calls"]).iter().filter_map(|call| call["id"].as_str()).collect();
        let thinks = message["role"] == "assistant"
            && (message.get("reasoning_content").is_some()
                || message["content"].as_str().is_some_and(|text| text.contains("<think>")));
        check(!thinks, || at("thinking must not be sent back"))?;
    }
    check(open.is_empty(), || "tool_call_ids did not have response messages".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &str, body: Value) -> String {
        let request = RecordedRequest { path: path.to_owned(), headers: Vec::new(), body };
        validate_request(&request).expect_err("the request is invalid")
    }

    #[test]
    fn invalid_requests_are_rejected() {
        let user = json!({"role": "user", "content": [{"type": "text", "text": "a"}]});
        let anthropic = |messages: Value, thinking: Value| {
            problem("/v1/messages", json!({"max_tokens": 2000, "messages": messages, "thinking": thinking}))
        };
        let call = json!({"type": "tool_use", "id": "1", "name": "a", "input": {}});
        let result =
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "b"}]});
        let with_call = |block: Option<Value>| {
            let blocks: Vec<_> = block.into_iter().chain([call.clone()]).collect();
            json!([user, {"role": "assistant", "content": blocks}, result])
        };
        let enabled = json!({"type": "enabled", "budget_tokens": 1024});
        let marked = json!({"type": "text", "text": "a", "cache_control": {}});
        let reasoning =
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc_rs_1"});
        let problems = [
            anthropic(with_call(None), enabled.clone()),
            anthropic(with_call(Some(json!({"type": "thinking", "thinking": "a"}))), enabled),
            anthropic(json!([user]), json!({"type": "enabled", "budget_tokens": 2000})),
            anthropic(json!([user]), json!({"type": "enabled", "budget_tokens": 100})),
            anthropic(
                json!([{"role": "user", "content": [marked, marked, marked, marked, marked]}]),
                Value::Null,
            ),
            anthropic(json!([user, {"role": "assistant", "content": [call]}]), Value::Null),
            problem("/responses", json!({"input": [reasoning]})),
            problem("/responses", json!({"input": [{"type": "reasoning", "id": "rs_1", "summary": []}]})),
            problem(
                "/chat/completions",
                json!({"messages": [{"role": "assistant", "content": "<think>a</think>"}]}),
            ),
        ];
        assert!(problems.iter().all(|problem| !problem.is_empty()));
        assert!(
            problems[0].contains("Expected `thinking`") && problems[1].contains("signature"),
            "{problems:?}"
        );
        assert!(problems[4].contains("Found 5"), "{problems:?}");
    }
}
