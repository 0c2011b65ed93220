//! Anthropic's Messages API.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::error::ModelError;
use super::remote::ProviderApi;
use super::request::{Chunk, ConversationEntry, ModelRequest, StopReason, ToolInvocation};
use super::sse::SseEvent;
use super::streaming::{ReplyParser, stream_error};
use super::tool_names::{ToolNames, without_dots};
use crate::message::TokenUsage;

/// The Messages API.
#[derive(Debug)]
pub(super) struct Anthropic;

impl ProviderApi for Anthropic {
    const NAME: &'static str = "anthropic";
    type Parser = AnthropicParser;

    fn body(&self, model: &str, request: &ModelRequest<'_>, names: &ToolNames) -> Value {
        body(model, request, names)
    }

    fn new_parser(names: ToolNames) -> AnthropicParser {
        AnthropicParser { names, ..AnthropicParser::default() }
    }
}

fn body(model: &str, request: &ModelRequest<'_>, names: &ToolNames) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_output_tokens,
        "stream": true,
        "messages": messages(request.entries, names),
    });
    if !request.system.is_empty() {
        // The system prompt is the same in every request, so the provider can cache it.
        body["system"] =
            json!([{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &prowess_tools::ToolDefinition| {
            json!({
                "name": names.to_wire(&tool.name),
                "description": without_dots(&tool.description),
                "input_schema": tool.input_schema,
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn messages(entries: &[ConversationEntry], names: &ToolNames) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    for entry in entries {
        let (role, blocks) = match entry {
            ConversationEntry::User(text) => ("user", vec![json!({"type": "text", "text": text})]),
            ConversationEntry::Assistant { text, calls } => {
                let text =
                    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text.trim_end()}));
                let call = |call: &ToolInvocation| {
                    let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
                    json!({"type": "tool_use", "id": call.id, "name": names.to_wire(&call.name), "input": input})
                };
                ("assistant", text.into_iter().chain(calls.iter().map(call)).collect())
            }
            ConversationEntry::Results(results) => {
                let result = |result: &super::ToolOutput| {
                    let mut block =
                        json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text});
                    if result.failed {
                        block["is_error"] = true.into();
                    }
                    block
                };
                ("user", results.iter().map(result).collect())
            }
        };
        if blocks.is_empty() {
            continue;
        }
        // Consecutive messages with the same role are merged.
        match messages.last_mut().filter(|last| last["role"] == role) {
            Some(last) => {
                if let Some(content) = last["content"].as_array_mut() {
                    content.extend(blocks);
                }
            }
            None => messages.push(json!({"role": role, "content": blocks})),
        }
    }
    messages
}

/// Parses the reply.
#[derive(Default)]
pub(super) struct AnthropicParser {
    names: ToolNames,
    /// The calls that are not complete yet: block, id, name, arguments.
    calls: Vec<(u64, String, String, String)>,
    usage: TokenUsage,
    stop: Option<StopReason>,
}

impl ReplyParser for AnthropicParser {
    fn parse_event(&mut self, event: &SseEvent, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Malformed(format!("an event is not JSON: {error}")))?;
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => self.update_usage(&value["message"]["usage"], out),
            "content_block_start" => self.start_block(&value),
            "content_block_delta" => self.add_delta(&value, out)?,
            "content_block_stop" => self.finish_call(block_index(&value), out),
            "message_delta" => {
                if let Some(reason) = value["delta"]["stop_reason"].as_str() {
                    self.stop = Some(parse_stop_reason(reason));
                }
                self.update_usage(&value["usage"], out);
            }
            "message_stop" => self.finish(out)?,
            "error" => return Err(stream_error(&value)),
            // Pings and unknown events.
            _ => {}
        }
        Ok(())
    }

    fn end_of_stream(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        self.finish(out)
    }
}

impl AnthropicParser {
    fn start_block(&mut self, value: &Value) {
        let block = &value["content_block"];
        if block["type"] == "tool_use" {
            let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
            // Usually empty here and sent in parts later.
            let input = block["input"].as_object().filter(|input| !input.is_empty());
            let input = input.map(|input| json!(input).to_string()).unwrap_or_default();
            self.calls.push((block_index(value), text("id"), text("name"), input));
        }
    }

    fn add_delta(&mut self, value: &Value, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        let delta = &value["delta"];
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                let text = delta["text"].as_str().unwrap_or_default();
                if !text.is_empty() {
                    out.push_back(Chunk::Text(text.to_owned()));
                }
            }
            "input_json_delta" => {
                let index = block_index(value);
                let Some((.., arguments)) = self.calls.iter_mut().find(|(block, ..)| *block == index) else {
                    return Err(ModelError::Malformed("arguments without a call".to_owned()));
                };
                arguments.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    fn finish_call(&mut self, block: u64, out: &mut VecDeque<Chunk>) {
        if let Some(index) = self.calls.iter().position(|(open_block, ..)| *open_block == block) {
            let (_, id, name, arguments) = self.calls.remove(index);
            out.push_back(Chunk::Call { id, name: self.names.original_name(&name), arguments });
        }
    }

    fn update_usage(&mut self, usage: &Value, out: &mut VecDeque<Chunk>) {
        let count = |key: &str| usage[key].as_u64();
        if let Some(input) = count("input_tokens").filter(|input| *input > 0 || self.usage.input == 0) {
            let cached = count("cache_read_input_tokens").unwrap_or_default();
            let cache_writes = count("cache_creation_input_tokens").unwrap_or_default();
            self.usage.input = input.saturating_add(cached).saturating_add(cache_writes);
            self.usage.cached = cached;
        }
        if let Some(output) = count("output_tokens") {
            self.usage.output = output;
        }
        if usage.is_object() {
            out.push_back(Chunk::Usage(self.usage));
        }
    }

    fn finish(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        // A call whose block did not end may lack arguments, and must not run.
        let stop = self.stop.take().filter(|_| self.calls.is_empty());
        let stop = stop.ok_or_else(|| {
            ModelError::Interrupted("the stream ended before the message was complete".to_owned())
        })?;
        out.push_back(Chunk::End(stop));
        Ok(())
    }
}

fn block_index(value: &Value) -> u64 {
    value["index"].as_u64().unwrap_or_default()
}

fn parse_stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" | "pause_turn" => StopReason::Finished,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Declined,
        other => StopReason::Other(other.to_owned()),
    }
}
