//! Anthropic's Messages.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::error::ModelError;
use super::remote::Interface;
use super::request::{Call, Chunk, Entry, Request, Stop};
use super::sse::Event;
use super::streaming::{Protocol, reported};
use super::wire::{Names, without_dots};
use crate::message::Usage;

/// Anthropic's Messages.
#[derive(Debug)]
pub(super) struct Anthropic;

impl Interface for Anthropic {
    const NAME: &'static str = "anthropic";
    type Reading = Reading;

    fn body(&self, model: &str, request: &Request<'_>, names: &Names) -> Value {
        body(model, request, names)
    }

    fn reading(names: Names) -> Reading {
        Reading { names, ..Reading::default() }
    }
}

/// What goes out.
fn body(model: &str, request: &Request<'_>, names: &Names) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_output_tokens,
        "stream": true,
        "messages": messages(request.entries, names),
    });
    if !request.system.is_empty() {
        // What stays the same from request to request is read from the provider's cache.
        body["system"] =
            json!([{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &prowess_tools::ToolDefinition| {
            json!({
                "name": names.outward(&tool.name),
                "description": without_dots(&tool.description),
                "input_schema": tool.input_schema,
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn messages(entries: &[Entry], names: &Names) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    for entry in entries {
        let (role, blocks) = match entry {
            Entry::User(text) => ("user", vec![json!({"type": "text", "text": text})]),
            Entry::Assistant { text, calls } => {
                let text =
                    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text.trim_end()}));
                let call = |call: &Call| {
                    let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
                    json!({"type": "tool_use", "id": call.id, "name": names.outward(&call.name), "input": input})
                };
                ("assistant", text.into_iter().chain(calls.iter().map(call)).collect())
            }
            Entry::Results(results) => {
                let result = |result: &super::CallResult| {
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
        // Two messages of the same side are one.
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

/// What comes back.
#[derive(Default)]
pub(super) struct Reading {
    names: Names,
    /// The calls that are not whole yet: block, id, name, arguments.
    calls: Vec<(u64, String, String, String)>,
    usage: Usage,
    stop: Option<Stop>,
}

impl Protocol for Reading {
    fn event(&mut self, event: &Event, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Malformed(format!("an event is not JSON: {error}")))?;
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => self.take_usage(&value["message"]["usage"], out),
            "content_block_start" => self.begin(&value),
            "content_block_delta" => self.delta(&value, out)?,
            "content_block_stop" => self.finish_block(index(&value), out),
            "message_delta" => {
                if let Some(reason) = value["delta"]["stop_reason"].as_str() {
                    self.stop = Some(stop(reason));
                }
                self.take_usage(&value["usage"], out);
            }
            "message_stop" => self.end(out),
            "error" => return Err(reported(&value)),
            // Pings, and whatever is added later.
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        if self.stop.is_none() {
            return Err(ModelError::BrokeOff("the stream ended before the message did".to_owned()));
        }
        self.end(out);
        Ok(())
    }
}

impl Reading {
    fn begin(&mut self, value: &Value) {
        let block = &value["content_block"];
        if block["type"] == "tool_use" {
            let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
            // Mostly empty here, and then told piece by piece.
            let input = block["input"].as_object().filter(|input| !input.is_empty());
            let input = input.map(|input| json!(input).to_string()).unwrap_or_default();
            self.calls.push((index(value), text("id"), text("name"), input));
        }
    }

    fn delta(&mut self, value: &Value, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        let delta = &value["delta"];
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                let text = delta["text"].as_str().unwrap_or_default();
                if !text.is_empty() {
                    out.push_back(Chunk::Text(text.to_owned()));
                }
            }
            "input_json_delta" => {
                let at = index(value);
                let Some((.., arguments)) = self.calls.iter_mut().find(|(block, ..)| *block == at) else {
                    return Err(ModelError::Malformed("arguments without a call".to_owned()));
                };
                arguments.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    fn finish_block(&mut self, block: u64, out: &mut VecDeque<Chunk>) {
        if let Some(at) = self.calls.iter().position(|(known, ..)| *known == block) {
            let (_, id, name, arguments) = self.calls.remove(at);
            out.push_back(Chunk::Call { id, name: self.names.inward(&name), arguments });
        }
    }

    fn take_usage(&mut self, usage: &Value, out: &mut VecDeque<Chunk>) {
        let count = |key: &str| usage[key].as_u64();
        if let Some(input) = count("input_tokens").filter(|input| *input > 0 || self.usage.input == 0) {
            let cached = count("cache_read_input_tokens").unwrap_or_default();
            let written = count("cache_creation_input_tokens").unwrap_or_default();
            self.usage.input = input + cached + written;
            self.usage.cached = cached;
        }
        if let Some(output) = count("output_tokens") {
            self.usage.output = output;
        }
        if usage.is_object() {
            out.push_back(Chunk::Usage(self.usage));
        }
    }

    fn end(&mut self, out: &mut VecDeque<Chunk>) {
        for (block, ..) in self.calls.clone() {
            self.finish_block(block, out);
        }
        out.push_back(Chunk::End(self.stop.take().unwrap_or(Stop::Finished)));
    }
}

fn index(value: &Value) -> u64 {
    value["index"].as_u64().unwrap_or_default()
}

fn stop(reason: &str) -> Stop {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" | "pause_turn" => Stop::Finished,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Declined,
        other => Stop::Other(other.to_owned()),
    }
}
