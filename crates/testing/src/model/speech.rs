//! What a model says, in the words of each provider's interface.

use prowess_config::ChatProvider;
use serde_json::{Value, json};

use super::Asked;

/// A piece of an answer.
#[derive(Debug, Clone)]
pub enum Say {
    /// Words.
    Text(&'static str),
    /// A call: its id, the tool, the arguments as JSON.
    Call(&'static str, &'static str, String),
}

/// Words.
pub fn text(words: &'static str) -> Say {
    Say::Text(words)
}

/// A call of a tool.
pub fn call(id: &'static str, name: &'static str, arguments: Value) -> Say {
    Say::Call(id, name, arguments.to_string())
}

/// The interfaces of models.
pub const ALL: [ChatProvider; 3] = [ChatProvider::Anthropic, ChatProvider::OpenAi, ChatProvider::OpenAiChat];

/// The bytes of a whole answer. Calls are told in small pieces and, where the interface allows it, interleaved.
pub fn answer(provider: ChatProvider, said: &[Say]) -> Vec<u8> {
    match provider {
        ChatProvider::Anthropic => anthropic(said),
        ChatProvider::OpenAi => responses(said),
        ChatProvider::OpenAiChat | ChatProvider::Rehearsal => completions(said),
    }
}

/// Small pieces that may cut a name, a number or a key, and of which some are empty.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let characters: Vec<char> = text.chars().collect();
    pieces.extend(characters.chunks(3).map(|piece| piece.iter().collect()));
    pieces
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn anthropic(said: &[Say]) -> Vec<u8> {
    let mut out = event(
        "message_start",
        &json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [],
            "usage": {"input_tokens": 90, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 0, "output_tokens": 1}}}),
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
    // All blocks begin before any goes on: nothing may depend on one block at a time.
    for (index, say) in said.iter().enumerate() {
        out.push_str(&match say {
            Say::Text(_) => start(index, json!({"type": "text", "text": ""})),
            Say::Call(id, name, _) => {
                start(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
            }
        });
    }
    for (index, piece) in interleaved(said) {
        out.push_str(&match &said[index] {
            Say::Text(_) => delta(index, json!({"type": "text_delta", "text": piece})),
            Say::Call(..) => delta(index, json!({"type": "input_json_delta", "partial_json": piece})),
        });
    }
    for index in 0..said.len() {
        out.push_str(&event("content_block_stop", &json!({"type": "content_block_stop", "index": index})));
    }
    let reason = if has_calls(said) { "tool_use" } else { "end_turn" };
    let last =
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 20}});
    out.push_str(&event("message_delta", &last));
    out.push_str(&event("message_stop", &json!({"type": "message_stop"})));
    out.into_bytes()
}

fn responses(said: &[Say]) -> Vec<u8> {
    let mut out = event(
        "response.created",
        &json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
    );
    let mut put = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        out.push_str(&event(kind, &data));
    };
    let item = |say: &Say, arguments: &str| match say {
        Say::Text(_) => json!({"type": "message", "role": "assistant", "content": []}),
        Say::Call(id, name, _) => {
            json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments})
        }
    };
    for (index, say) in said.iter().enumerate() {
        put("response.output_item.added", json!({"output_index": index, "item": item(say, "")}));
    }
    for (index, piece) in interleaved(said) {
        let kind = match &said[index] {
            Say::Text(_) => "response.output_text.delta",
            Say::Call(..) => "response.function_call_arguments.delta",
        };
        put(kind, json!({"output_index": index, "delta": piece}));
    }
    for (index, say) in said.iter().enumerate() {
        let whole = if let Say::Call(_, _, arguments) = say { arguments } else { "" };
        put("response.output_item.done", json!({"output_index": index, "item": item(say, whole)}));
    }
    let usage =
        json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 20});
    put("response.completed", json!({"response": {"id": "resp_1", "status": "completed", "usage": usage}}));
    out.into_bytes()
}

fn completions(said: &[Say]) -> Vec<u8> {
    let chunk = |delta: Value, finish: Value| {
        format!(
            "data: {}\n\n",
            json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )
    };
    let mut out = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    let place = |index: usize| said[..index].iter().filter(|say| matches!(say, Say::Call(..))).count();
    for (index, say) in said.iter().enumerate() {
        if let Say::Call(id, name, _) = say {
            let call = json!({"index": place(index), "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
            out.push_str(&chunk(json!({"tool_calls": [call]}), Value::Null));
        }
    }
    for (index, piece) in interleaved(said) {
        out.push_str(&match &said[index] {
            Say::Text(_) => chunk(json!({"content": piece}), Value::Null),
            Say::Call(..) => {
                let call = json!({"index": place(index), "function": {"arguments": piece}});
                chunk(json!({"tool_calls": [call]}), Value::Null)
            }
        });
    }
    out.push_str(&chunk(json!({}), if has_calls(said) { "tool_calls" } else { "stop" }.into()));
    let usage = json!({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 10}, "completion_tokens": 20});
    out.push_str(&format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [], "usage": usage})));
    out.into_bytes()
}

fn has_calls(said: &[Say]) -> bool {
    said.iter().any(|say| matches!(say, Say::Call(..)))
}

/// The pieces of all parts, a piece of each in turn.
fn interleaved(said: &[Say]) -> Vec<(usize, String)> {
    let all: Vec<Vec<String>> = said
        .iter()
        .map(|say| match say {
            Say::Text(words) => pieces(words),
            Say::Call(_, _, arguments) => pieces(arguments),
        })
        .collect();
    let longest = all.iter().map(Vec::len).max().unwrap_or_default();
    let at = |round: usize| {
        all.iter().enumerate().filter_map(move |(index, own)| Some((index, own.get(round)?.clone())))
    };
    (0..longest).flat_map(at).collect()
}

/// What the model was told before everything else.
pub fn system(provider: ChatProvider, asked: &Asked) -> String {
    let text = match provider {
        ChatProvider::Anthropic => asked.body["system"][0]["text"].as_str(),
        ChatProvider::OpenAi => asked.body["instructions"].as_str(),
        ChatProvider::OpenAiChat | ChatProvider::Rehearsal => asked.body["messages"][0]["content"].as_str(),
    };
    text.unwrap_or_default().to_owned()
}

/// The results of tools in a request: call and text, in their order.
pub fn results(provider: ChatProvider, asked: &Asked) -> Vec<(String, String)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let pair =
        |id: &Value, text: &Value| (id.as_str().unwrap().to_owned(), text.as_str().unwrap().to_owned());
    match provider {
        ChatProvider::Anthropic => list(&asked.body["messages"])
            .iter()
            .flat_map(|message| list(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| pair(&block["tool_use_id"], &block["content"]))
            .collect(),
        ChatProvider::OpenAi => list(&asked.body["input"])
            .iter()
            .filter(|item| item["type"] == "function_call_output")
            .map(|item| pair(&item["call_id"], &item["output"]))
            .collect(),
        ChatProvider::OpenAiChat | ChatProvider::Rehearsal => list(&asked.body["messages"])
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| pair(&message["tool_call_id"], &message["content"]))
            .collect(),
    }
}
