//! OpenAI's Responses. Nothing is kept over there: each request has all that was said.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::error::ModelError;
use super::remote::Interface;
use super::request::{Call, Chunk, Entry, Request, Stop};
use super::sse::Event;
use super::streaming::{Protocol, reported};
use super::wire::{Names, without_dots};
use crate::message::Usage;

/// OpenAI's Responses.
#[derive(Debug)]
pub(super) struct Responses;

impl Interface for Responses {
    const NAME: &'static str = "openai";
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
        "max_output_tokens": request.max_output_tokens,
        "stream": true,
        "store": false,
        "input": request.entries.iter().flat_map(|entry| items(entry, names)).collect::<Vec<_>>(),
    });
    if !request.system.is_empty() {
        body["instructions"] = request.system.into();
    }
    if !request.tools.is_empty() {
        let tool = |tool: &prowess_tools::ToolDefinition| {
            json!({
                "type": "function",
                "name": names.outward(&tool.name),
                "description": without_dots(&tool.description),
                "parameters": tool.input_schema,
                "strict": false,
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn items(entry: &Entry, names: &Names) -> Vec<Value> {
    match entry {
        Entry::User(text) => vec![json!({"role": "user", "content": text})],
        Entry::Assistant { text, calls } => {
            let text = (!text.trim().is_empty()).then(|| json!({"role": "assistant", "content": text}));
            let call = |call: &Call| {
                let arguments =
                    if call.arguments.is_object() { call.arguments.to_string() } else { "{}".to_owned() };
                json!({
                    "type": "function_call",
                    "call_id": call.id,
                    "name": names.outward(&call.name),
                    "arguments": arguments,
                })
            };
            text.into_iter().chain(calls.iter().map(call)).collect()
        }
        Entry::Results(results) => results
            .iter()
            .map(
                |result| json!({"type": "function_call_output", "call_id": result.id, "output": result.text}),
            )
            .collect(),
    }
}

/// What comes back.
#[derive(Default)]
pub(super) struct Reading {
    names: Names,
    /// The calls that are not whole yet: place, id, name, arguments.
    calls: Vec<(u64, String, String, String)>,
    /// The model declined, and said so in words.
    refused: bool,
}

impl Protocol for Reading {
    fn event(&mut self, event: &Event, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        if event.data == "[DONE]" {
            return Ok(());
        }
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Malformed(format!("an event is not JSON: {error}")))?;
        let place = value["output_index"].as_u64().unwrap_or_default();
        match value["type"].as_str().unwrap_or(&event.name) {
            kind @ ("response.output_text.delta" | "response.refusal.delta") => {
                self.refused |= kind == "response.refusal.delta";
                let text = value["delta"].as_str().unwrap_or_default();
                if !text.is_empty() {
                    out.push_back(Chunk::Text(text.to_owned()));
                }
            }
            "response.output_item.added" => {
                let item = &value["item"];
                if item["type"] == "function_call" {
                    let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
                    self.calls.push((place, text("call_id"), text("name"), text("arguments")));
                }
            }
            "response.function_call_arguments.delta" => {
                let Some((.., arguments)) = self.calls.iter_mut().find(|(known, ..)| *known == place) else {
                    return Err(ModelError::Malformed("arguments without a call".to_owned()));
                };
                arguments.push_str(value["delta"].as_str().unwrap_or_default());
            }
            "response.output_item.done" => self.done(place, &value["item"], out),
            "response.completed" => {
                let stop = if self.refused { Stop::Declined } else { Stop::Finished };
                self.end(&value["response"], stop, out);
            }
            "response.incomplete" => {
                let stop = match value["response"]["incomplete_details"]["reason"].as_str() {
                    Some("max_output_tokens") => Stop::Length,
                    Some("content_filter") => Stop::Declined,
                    other => Stop::Other(other.unwrap_or("incomplete").to_owned()),
                };
                self.end(&value["response"], stop, out);
            }
            "response.failed" => return Err(reported(&value["response"])),
            "error" => return Err(reported(&value)),
            // Summaries of thoughts, parts that begin and end, and whatever is added later.
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, _: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        Err(ModelError::BrokeOff("the stream ended before the response did".to_owned()))
    }
}

impl Reading {
    /// A call is whole. What the finished item says counts more than what was put together.
    fn done(&mut self, place: u64, item: &Value, out: &mut VecDeque<Chunk>) {
        if item["type"] != "function_call" {
            return;
        }
        let known = self.calls.iter().position(|(known, ..)| *known == place).map(|at| self.calls.remove(at));
        let (_, id, name, arguments) = known.unwrap_or_default();
        let last = |key: &str, before: String| match item[key].as_str() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => before,
        };
        let (id, name) = (last("call_id", id), last("name", name));
        let arguments = last("arguments", arguments);
        out.push_back(Chunk::Call { id, name: self.names.inward(&name), arguments });
    }

    fn end(&mut self, response: &Value, stop: Stop, out: &mut VecDeque<Chunk>) {
        for (_, id, name, arguments) in std::mem::take(&mut self.calls) {
            out.push_back(Chunk::Call { id, name: self.names.inward(&name), arguments });
        }
        let usage = &response["usage"];
        if usage.is_object() {
            let count = |value: &Value| value.as_u64().unwrap_or_default();
            out.push_back(Chunk::Usage(Usage {
                input: count(&usage["input_tokens"]),
                output: count(&usage["output_tokens"]),
                cached: count(&usage["input_tokens_details"]["cached_tokens"]),
            }));
        }
        out.push_back(Chunk::End(stop));
    }
}
