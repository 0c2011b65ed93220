//! Replies of a model in the wire format of each provider API, and fields of requests.

use prowess_config::ChatProvider;
use serde_json::{Value, json};

use super::RecordedRequest;
use super::validate::{encrypted_content, signature};

/// A part of a reply.
#[derive(Debug, Clone)]
pub enum ReplyPart {
    /// Text.
    Text(&'static str),
    /// Thinking that the provider expects again, except in the Chat Completions API.
    Thinking(&'static str),
    /// Thinking without a text (Anthropic and Responses).
    Redacted,
    /// A tool call: its id, the tool, and the arguments as JSON.
    Call(&'static str, &'static str, String),
}

/// Returns a text.
pub fn text(text: &'static str) -> ReplyPart {
    ReplyPart::Text(text)
}

/// Returns thinking.
pub fn thinking(text: &'static str) -> ReplyPart {
    ReplyPart::Thinking(text)
}

/// Returns a tool call.
pub fn call(id: &'static str, name: &'static str, arguments: Value) -> ReplyPart {
    ReplyPart::Call(id, name, arguments.to_string())
}

/// The provider APIs.
pub const PROVIDERS: [ChatProvider; 3] =
    [ChatProvider::Anthropic, ChatProvider::OpenAi, ChatProvider::OpenAiChat];

/// Encodes a complete reply as an event stream. All parts are split into small pieces and interleaved.
pub fn encode_reply(provider: ChatProvider, parts: &[ReplyPart]) -> Vec<u8> {
    match provider {
        ChatProvider::Anthropic => anthropic(parts),
        ChatProvider::OpenAi => responses(parts),
        ChatProvider::OpenAiChat | ChatProvider::Rehearsal => completions(parts),
    }
}

/// Splits a text into small pieces, the first of which is empty. Names, numbers and keys may be split.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let characters: Vec<char> = text.chars().collect();
    pieces.extend(characters.chunks(3).map(|piece| piece.iter().collect()));
    pieces
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn anthropic(parts: &[ReplyPart]) -> Vec<u8> {
    let mut out = event(
        "message_start",
        &json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [],
            "usage": {"input_tokens": 85, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": 1}}}),
    );
    out.push_str("event: ping\ndata: {\"type\": \"ping\"}\n\n");
    let start = |index: usize, block: Value| {
        event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        )
    };
    let delta = |index: usize, delta: Value| {
        event("content_block_delta", &json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    let stop =
        |index: usize| event("content_block_stop", &json!({"type": "content_block_stop", "index": index}));
    // All blocks are started before any is continued, because a client must not expect one block at a time.
    for (index, part) in parts.iter().enumerate() {
        out.push_str(&match part {
            ReplyPart::Text(_) => start(index, json!({"type": "text", "text": ""})),
            // Thinking is complete before anything else starts.
            ReplyPart::Thinking(text) => {
                let mut block = start(index, json!({"type": "thinking", "thinking": "", "signature": ""}));
                for piece in pieces(text) {
                    block.push_str(&delta(index, json!({"type": "thinking_delta", "thinking": piece})));
                }
                for piece in pieces(&signature(text)) {
                    block.push_str(&delta(index, json!({"type": "signature_delta", "signature": piece})));
                }
                block + &stop(index)
            }
            ReplyPart::Redacted => {
                start(index, json!({"type": "redacted_thinking", "data": "red_1"})) + &stop(index)
            }
            ReplyPart::Call(id, name, _) => {
                start(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
            }
        });
    }
    for (index, piece) in interleaved(parts) {
        out.push_str(&match &parts[index] {
            ReplyPart::Text(_) => delta(index, json!({"type": "text_delta", "text": piece})),
            ReplyPart::Call(..) => delta(index, json!({"type": "input_json_delta", "partial_json": piece})),
            ReplyPart::Thinking(_) | ReplyPart::Redacted => continue,
        });
    }
    let is_open = |part: &ReplyPart| !matches!(part, ReplyPart::Thinking(_) | ReplyPart::Redacted);
    for (index, _) in parts.iter().enumerate().filter(|(_, part)| is_open(part)) {
        out.push_str(&stop(index));
    }
    let reason = if has_calls(parts) { "tool_use" } else { "end_turn" };
    let last =
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 20}});
    out.push_str(&event("message_delta", &last));
    out.push_str(&event("message_stop", &json!({"type": "message_stop"})));
    out.into_bytes()
}

fn responses(parts: &[ReplyPart]) -> Vec<u8> {
    let mut out = event(
        "response.created",
        &json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
    );
    let mut put = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        out.push_str(&event(kind, &data));
    };
    let item = |part: &ReplyPart, arguments: &str| match part {
        ReplyPart::Text(_) => json!({"type": "message", "role": "assistant", "content": []}),
        ReplyPart::Thinking(_) | ReplyPart::Redacted => Value::Null,
        ReplyPart::Call(id, name, _) => {
            json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments})
        }
    };
    for (index, part) in parts.iter().enumerate() {
        let thinking = match part {
            ReplyPart::Thinking(text) => Some(*text),
            ReplyPart::Redacted => Some(""),
            ReplyPart::Text(_) | ReplyPart::Call(..) => None,
        };
        let Some(thinking) = thinking else {
            put("response.output_item.added", json!({"output_index": index, "item": item(part, "")}));
            continue;
        };
        // Thinking is complete before anything else starts.
        let id = format!("rs_{index}");
        let added = json!({"type": "reasoning", "id": id, "summary": []});
        put("response.output_item.added", json!({"output_index": index, "item": added}));
        let paragraphs: Vec<&str> = thinking.split("\n\n").filter(|text| !text.is_empty()).collect();
        for (number, paragraph) in paragraphs.iter().enumerate() {
            for piece in pieces(paragraph) {
                let delta = json!({"output_index": index, "summary_index": number, "delta": piece});
                put("response.reasoning_summary_text.delta", delta);
            }
        }
        let summary =
            paragraphs.iter().map(|text| json!({"type": "summary_text", "text": text})).collect::<Vec<_>>();
        let done = json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted_content(&id)});
        put("response.output_item.done", json!({"output_index": index, "item": done}));
    }
    for (index, piece) in interleaved(parts) {
        let kind = match &parts[index] {
            ReplyPart::Text(_) => "response.output_text.delta",
            ReplyPart::Call(..) => "response.function_call_arguments.delta",
            ReplyPart::Thinking(_) | ReplyPart::Redacted => continue,
        };
        put(kind, json!({"output_index": index, "delta": piece}));
    }
    for (index, part) in parts.iter().enumerate() {
        let full = if let ReplyPart::Call(_, _, arguments) = part { arguments } else { "" };
        if !matches!(part, ReplyPart::Thinking(_) | ReplyPart::Redacted) {
            put("response.output_item.done", json!({"output_index": index, "item": item(part, full)}));
        }
    }
    let usage =
        json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 20});
    put("response.completed", json!({"response": {"id": "resp_1", "status": "completed", "usage": usage}}));
    out.into_bytes()
}

fn completions(parts: &[ReplyPart]) -> Vec<u8> {
    let chunk = |delta: Value, finish: Value| {
        format!(
            "data: {}\n\n",
            json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )
    };
    let mut out = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    for part in parts {
        if let ReplyPart::Thinking(text) = part {
            for piece in pieces(text) {
                out.push_str(&chunk(json!({"reasoning_content": piece}), Value::Null));
            }
        }
    }
    let call_index =
        |index: usize| parts[..index].iter().filter(|part| matches!(part, ReplyPart::Call(..))).count();
    for (index, part) in parts.iter().enumerate() {
        if let ReplyPart::Call(id, name, _) = part {
            let call = json!({"index": call_index(index), "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
            out.push_str(&chunk(json!({"tool_calls": [call]}), Value::Null));
        }
    }
    for (index, piece) in interleaved(parts) {
        out.push_str(&match &parts[index] {
            ReplyPart::Text(_) => chunk(json!({"content": piece}), Value::Null),
            ReplyPart::Call(..) => {
                let call = json!({"index": call_index(index), "function": {"arguments": piece}});
                chunk(json!({"tool_calls": [call]}), Value::Null)
            }
            ReplyPart::Thinking(_) | ReplyPart::Redacted => continue,
        });
    }
    out.push_str(&chunk(json!({}), if has_calls(parts) { "tool_calls" } else { "stop" }.into()));
    let usage = json!({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 10}, "completion_tokens": 20});
    out.push_str(&format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [], "usage": usage})));
    out.into_bytes()
}

fn has_calls(parts: &[ReplyPart]) -> bool {
    parts.iter().any(|part| matches!(part, ReplyPart::Call(..)))
}

/// Returns the pieces of all parts with the index of the part, one piece of each part in turn.
fn interleaved(parts: &[ReplyPart]) -> Vec<(usize, String)> {
    let all: Vec<Vec<String>> = parts
        .iter()
        .map(|part| match part {
            ReplyPart::Text(text) => pieces(text),
            ReplyPart::Call(_, _, arguments) => pieces(arguments),
            // It is sent before all other parts.
            ReplyPart::Thinking(_) | ReplyPart::Redacted => Vec::new(),
        })
        .collect();
    let longest = all.iter().map(Vec::len).max().unwrap_or_default();
    let pieces_of_round = |round: usize| {
        all.iter().enumerate().filter_map(move |(index, pieces)| Some((index, pieces.get(round)?.clone())))
    };
    (0..longest).flat_map(pieces_of_round).collect()
}

/// Returns the system prompt of a request.
pub fn system_prompt(provider: ChatProvider, request: &RecordedRequest) -> String {
    let text = match provider {
        ChatProvider::Anthropic => request.body["system"][0]["text"].as_str(),
        ChatProvider::OpenAi => request.body["instructions"].as_str(),
        ChatProvider::OpenAiChat | ChatProvider::Rehearsal => request.body["messages"][0]["content"].as_str(),
    };
    text.unwrap_or_default().to_owned()
}

/// Returns the tool results in a request: call id and text, in order.
pub fn tool_results(provider: ChatProvider, request: &RecordedRequest) -> Vec<(String, String)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let pair =
        |id: &Value, text: &Value| (id.as_str().unwrap().to_owned(), text.as_str().unwrap().to_owned());
    match provider {
        ChatProvider::Anthropic => list(&request.body["messages"])
            .iter()
            .flat_map(|message| list(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| pair(&block["tool_use_id"], &block["content"]))
            .collect(),
        ChatProvider::OpenAi => list(&request.body["input"])
            .iter()
            .filter(|item| item["type"] == "function_call_output")
            .map(|item| pair(&item["call_id"], &item["output"]))
            .collect(),
        ChatProvider::OpenAiChat | ChatProvider::Rehearsal => list(&request.body["messages"])
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| pair(&message["tool_call_id"], &message["content"]))
            .collect(),
    }
}
