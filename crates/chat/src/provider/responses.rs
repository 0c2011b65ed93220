//! OpenAI's Responses API. The server stores nothing, so each request contains the whole conversation.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use prowess_config::{Effort, ThinkingMode};
use serde_json::{Value, json};

use super::error::ModelError;
use super::remote::{Adaptation, ProviderApi, RequestContext, is_unsupported};
use super::request::{Chunk, ConversationEntry, ModelRequest, ReplyPiece, StopReason, reply_pieces};
use super::sse::SseEvent;
use super::streaming::{ReplyParser, stream_error};
use super::tool_names::{ToolNames, without_dots};
use crate::message::TokenUsage;
use crate::thinking::SealedContent;

/// The Responses API.
#[derive(Debug, Default)]
pub(super) struct Responses {
    /// What models do not support, by model.
    variants: Mutex<BTreeMap<String, RequestVariant>>,
}

/// What is omitted from requests. Models that do not think reject requests for their thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RequestVariant {
    without_summary: bool,
    without_encrypted: bool,
}

/// The field that asks for encrypted thinking, which is sent back in the next request.
const ENCRYPTED_CONTENT: &str = "reasoning.encrypted_content";

impl ProviderApi for Responses {
    const NAME: &'static str = "openai";
    type Parser = ResponsesParser;

    fn body(&self, request: &ModelRequest<'_>, context: &RequestContext<'_>) -> Value {
        let variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let variant = variants.get(context.model).copied().unwrap_or_default();
        body(request, context, variant)
    }

    fn adapt(&self, sent: &Value, message: &str) -> Adaptation {
        let message = message.to_lowercase();
        let encrypted = message.contains("encrypted content") || message.contains("encrypted_content");
        let rejected = is_unsupported(&message) || message.contains("must be verified");
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let variant = variants.entry(sent["model"].as_str().unwrap_or_default().to_owned()).or_default();
        if rejected && encrypted && sent.get("include").is_some() {
            variant.without_encrypted = true;
            return Adaptation::Rewrite;
        }
        let summary = ["reasoning.summary", "reasoning summary", "reasoning summaries"]
            .iter()
            .any(|text| message.contains(text));
        if rejected && summary && sent["reasoning"].get("summary").is_some() {
            variant.without_summary = true;
            return Adaptation::Rewrite;
        }
        // It was encrypted for another account.
        if encrypted && !rejected { Adaptation::WithoutThinking } else { Adaptation::None }
    }

    fn new_parser(names: ToolNames) -> ResponsesParser {
        ResponsesParser { names, ..ResponsesParser::default() }
    }
}

fn body(request: &ModelRequest<'_>, context: &RequestContext<'_>, variant: RequestVariant) -> Value {
    let settings = context.settings;
    let mut body = json!({
        "model": context.model,
        "max_output_tokens": context.max_output_tokens,
        "stream": true,
        "store": false,
        "input": request.entries.iter().flat_map(|entry| items(entry, context)).collect::<Vec<_>>(),
    });
    if let Some(effort) = effort(settings.effort) {
        body["reasoning"]["effort"] = effort.into();
    }
    if settings.thinking != ThinkingMode::Off {
        if !variant.without_summary {
            body["reasoning"]["summary"] = "auto".into();
        }
        if !variant.without_encrypted {
            body["include"] = json!([ENCRYPTED_CONTENT]);
        }
    }
    if let Some(temperature) = settings.temperature {
        body["temperature"] = temperature.value().into();
    }
    if !request.system.is_empty() {
        body["instructions"] = request.system.into();
    }
    if !request.tools.is_empty() {
        let tool = |tool: &prowess_tools::ToolDefinition| {
            json!({
                "type": "function",
                "name": context.names.to_wire(&tool.name),
                "description": without_dots(&tool.description),
                "parameters": tool.input_schema,
                "strict": false,
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

/// Returns the effort in the words of OpenAI's APIs.
pub(super) fn effort(effort: Effort) -> Option<&'static str> {
    match effort {
        Effort::Auto => None,
        Effort::Max => Some("xhigh"),
        effort => Some(effort.as_str()),
    }
}

fn items(entry: &ConversationEntry, context: &RequestContext<'_>) -> Vec<Value> {
    match entry {
        ConversationEntry::User(text) => vec![json!({"role": "user", "content": text})],
        ConversationEntry::Assistant { text, thinking, calls } => {
            let pieces = reply_pieces(text, thinking, calls, context.thinking_of);
            pieces.iter().filter_map(|piece| reply_item(piece, context)).collect()
        }
        ConversationEntry::Results(results) => results
            .iter()
            .map(
                |result| json!({"type": "function_call_output", "call_id": result.id, "output": result.text}),
            )
            .collect(),
    }
}

fn reply_item(piece: &ReplyPiece<'_>, context: &RequestContext<'_>) -> Option<Value> {
    Some(match piece {
        ReplyPiece::Text(text) => json!({"role": "assistant", "content": text}),
        ReplyPiece::Call(call) => {
            let arguments =
                if call.arguments.is_object() { call.arguments.to_string() } else { "{}".to_owned() };
            json!({
                "type": "function_call",
                "call_id": call.id,
                "name": context.names.to_wire(&call.name),
                "arguments": arguments,
            })
        }
        ReplyPiece::Thinking(block) => match &block.seal.content {
            SealedContent::Reasoning { id, summary, encrypted } => {
                let paragraph = |text: &String| json!({"type": "summary_text", "text": text});
                json!({
                    "type": "reasoning",
                    "id": id,
                    "summary": summary.iter().map(paragraph).collect::<Vec<_>>(),
                    "encrypted_content": encrypted,
                })
            }
            // Only another provider has them.
            SealedContent::Signature { .. } | SealedContent::Redacted { .. } => return None,
        },
    })
}

/// Parses the reply.
#[derive(Default)]
pub(super) struct ResponsesParser {
    names: ToolNames,
    /// The calls that are not complete yet: index, id, name, arguments.
    calls: Vec<(u64, String, String, String)>,
    /// The model refused in text.
    refused: bool,
    /// The paragraph of thinking that was received last: item and number.
    paragraph: Option<(u64, u64)>,
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
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let number = value["summary_index"].as_u64().or_else(|| value["content_index"].as_u64());
                let paragraph = (index, number.unwrap_or_default());
                let text = value["delta"].as_str().unwrap_or_default();
                if !text.is_empty() {
                    let is_next = self.paragraph.replace(paragraph).is_some_and(|last| last != paragraph);
                    let text = if is_next { format!("\n\n{text}") } else { text.to_owned() };
                    out.push_back(Chunk::Thinking(text));
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
            "response.output_item.done" if value["item"]["type"] == "reasoning" => {
                self.paragraph = None;
                out.extend(seal(&value["item"]).map(Chunk::Sealed));
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
            // Starts and ends of parts, and unknown events.
            _ => {}
        }
        Ok(())
    }

    fn end_of_stream(&mut self, _: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        Err(ModelError::Interrupted("the stream ended before the response was complete".to_owned()))
    }
}

/// Returns the seal of complete thinking, if the server encrypted it.
fn seal(item: &Value) -> Option<SealedContent> {
    let encrypted = item["encrypted_content"].as_str().filter(|encrypted| !encrypted.is_empty())?.to_owned();
    let paragraphs = item["summary"].as_array().into_iter().flatten();
    let summary = paragraphs.filter_map(|paragraph| Some(paragraph["text"].as_str()?.to_owned())).collect();
    let id = item["id"].as_str().unwrap_or_default().to_owned();
    Some(SealedContent::Reasoning { id, summary, encrypted })
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
                cache_writes: 0,
            }));
        }
        out.push_back(Chunk::End(stop));
    }
}
