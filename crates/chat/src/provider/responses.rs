//! OpenAI's Responses API. The server stores nothing, so each request contains the whole conversation.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::error::ModelError;
use super::remote::ProviderApi;
use super::request::{Chunk, ConversationEntry, ModelRequest, StopReason, ToolInvocation};
use super::sse::SseEvent;
use super::streaming::{ReplyParser, stream_error};
use super::tool_names::{ToolNames, without_dots};
use crate::message::TokenUsage;

/// The Responses API.
#[derive(Debug)]
pub(super) struct Responses;

impl ProviderApi for Responses {
    const NAME: &'static str = "openai";
    type Parser = ResponsesParser;

    fn body(&self, model: &str, request: &ModelRequest<'_>, names: &ToolNames) -> Value {
        body(model, request, names)
    }

    fn new_parser(names: ToolNames) -> ResponsesParser {
        ResponsesParser { names, ..ResponsesParser::default() }
    }
}

fn body(model: &str, request: &ModelRequest<'_>, names: &ToolNames) -> Value {
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
                "name": names.to_wire(&tool.name),
                "description": without_dots(&tool.description),
                "parameters": tool.input_schema,
                "strict": false,
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn items(entry: &ConversationEntry, names: &ToolNames) -> Vec<Value> {
    match entry {
        ConversationEntry::User(text) => vec![json!({"role": "user", "content": text})],
        ConversationEntry::Assistant { text, calls } => {
            let text = (!text.trim().is_empty()).then(|| json!({"role": "assistant", "content": text}));
            let call = |call: &ToolInvocation| {
                let arguments =
                    if call.arguments.is_object() { call.arguments.to_string() } else { "{}".to_owned() };
                json!({
                    "type": "function_call",
                    "call_id": call.id,
                    "name": names.to_wire(&call.name),
                    "arguments": arguments,
                })
            };
            text.into_iter().chain(calls.iter().map(call)).collect()
        }
        ConversationEntry::Results(results) => results
            .iter()
            .map(
                |result| json!({"type": "function_call_output", "call_id": result.id, "output": result.text}),
            )
            .collect(),
    }
}

/// Parses the reply.
#[derive(Default)]
pub(super) struct ResponsesParser {
    names: ToolNames,
    /// The calls that are not complete yet: index, id, name, arguments.
    calls: Vec<(u64, String, String, String)>,
    /// The model refused in text.
    refused: bool,
}

impl ReplyParser for ResponsesParser {
    fn parse_event(&mut self, event: &SseEvent, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        if event.data == "[DONE]" {
            return Ok(());
        }
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Malformed(format!("an event is not JSON: {error}")))?;
        let index = value["output_index"].as_u64().unwrap_or_default();
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
                    self.calls.push((index, text("call_id"), text("name"), text("arguments")));
                }
            }
            "response.function_call_arguments.delta" => {
                let Some((.., arguments)) =
                    self.calls.iter_mut().find(|(open_index, ..)| *open_index == index)
                else {
                    return Err(ModelError::Malformed("arguments without a call".to_owned()));
                };
                arguments.push_str(value["delta"].as_str().unwrap_or_default());
            }
            "response.output_item.done" => self.finish_call(index, &value["item"], out),
            "response.completed" => {
                let stop = if self.refused { StopReason::Declined } else { StopReason::Finished };
                self.finish(&value["response"], stop, out);
            }
            "response.incomplete" => {
                let stop = match value["response"]["incomplete_details"]["reason"].as_str() {
                    Some("max_output_tokens") => StopReason::Length,
                    Some("content_filter") => StopReason::Declined,
                    other => StopReason::Other(other.unwrap_or("incomplete").to_owned()),
                };
                self.finish(&value["response"], stop, out);
            }
            "response.failed" => return Err(stream_error(&value["response"])),
            "error" => return Err(stream_error(&value)),
            // Reasoning summaries, starts and ends of parts, and unknown events.
            _ => {}
        }
        Ok(())
    }

    fn end_of_stream(&mut self, _: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        Err(ModelError::Interrupted("the stream ended before the response was complete".to_owned()))
    }
}

impl ResponsesParser {
    /// Completes a call. The finished item takes precedence over the collected parts.
    fn finish_call(&mut self, index: u64, item: &Value, out: &mut VecDeque<Chunk>) {
        if item["type"] != "function_call" {
            return;
        }
        let position = self.calls.iter().position(|(open_index, ..)| *open_index == index);
        let collected = position.map(|position| self.calls.remove(position));
        let (_, id, name, arguments) = collected.unwrap_or_default();
        let final_or = |key: &str, collected: String| match item[key].as_str() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => collected,
        };
        let (id, name) = (final_or("call_id", id), final_or("name", name));
        let arguments = final_or("arguments", arguments);
        out.push_back(Chunk::Call { id, name: self.names.original_name(&name), arguments });
    }

    fn finish(&mut self, response: &Value, stop: StopReason, out: &mut VecDeque<Chunk>) {
        for (_, id, name, arguments) in std::mem::take(&mut self.calls) {
            out.push_back(Chunk::Call { id, name: self.names.original_name(&name), arguments });
        }
        let usage = &response["usage"];
        if usage.is_object() {
            let count = |value: &Value| value.as_u64().unwrap_or_default();
            out.push_back(Chunk::Usage(TokenUsage {
                input: count(&usage["input_tokens"]),
                output: count(&usage["output_tokens"]),
                cached: count(&usage["input_tokens_details"]["cached_tokens"]),
            }));
        }
        out.push_back(Chunk::End(stop));
    }
}
