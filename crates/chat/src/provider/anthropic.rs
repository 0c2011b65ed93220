//! Anthropic's Messages API.

mod messages;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use prowess_config::{Effort, ThinkingMode};
use serde_json::{Value, json};

use super::error::ModelError;
use super::remote::{Adaptation, ProviderApi, RequestContext, is_unsupported};
use super::request::{Chunk, ModelRequest, StopReason};
use super::sse::SseEvent;
use super::streaming::{ReplyParser, stream_error};
use super::tool_names::{ToolNames, without_dots};
use crate::message::TokenUsage;
use crate::thinking::SealedContent;
use messages::{ToolLoop, cached, messages};

/// The Messages API.
#[derive(Debug, Default)]
pub(super) struct Anthropic {
    /// What models do not support, by model.
    variants: Mutex<BTreeMap<String, RequestVariant>>,
}

/// How thinking is requested. Models differ; if one form is rejected, the other is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RequestVariant {
    thinking: ThinkingForm,
    without_effort: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ThinkingForm {
    /// As the configuration says.
    #[default]
    Configured,
    /// The model decides how much it thinks.
    Adaptive,
    /// The model has a budget.
    Budget,
    /// The model has no setting for it.
    Omitted,
}

impl ProviderApi for Anthropic {
    const NAME: &'static str = "anthropic";
    type Parser = AnthropicParser;

    fn body(&self, request: &ModelRequest<'_>, context: &RequestContext<'_>) -> Value {
        let variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let variant = variants.get(context.model).copied().unwrap_or_default();
        body(request, context, variant)
    }

    fn adapt(&self, sent: &Value, message: &str) -> Adaptation {
        let message = message.to_lowercase();
        let model = sent["model"].as_str().unwrap_or_default();
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let variant = variants.entry(model.to_owned()).or_default();
        if is_unsupported(&message)
            && message.contains("effort")
            && sent.get("output_config").is_some()
            && !message.contains("thinking.type")
        {
            variant.without_effort = true;
            return Adaptation::Rewrite;
        }
        if !message.contains("thinking") {
            return Adaptation::None;
        }
        let rejected = sent["thinking"]["type"].as_str().unwrap_or_default();
        if is_unsupported(&message) {
            let next = match (rejected, variant.thinking) {
                ("adaptive", ThinkingForm::Configured) => ThinkingForm::Budget,
                ("enabled", ThinkingForm::Configured) => ThinkingForm::Adaptive,
                ("adaptive" | "enabled" | "disabled", _) => ThinkingForm::Omitted,
                _ => return Adaptation::None,
            };
            variant.thinking = next;
            return Adaptation::Rewrite;
        }
        let about_blocks = ["signature", "cannot be modified", "expected `thinking`", "redacted_thinking"];
        match about_blocks.iter().any(|phrase| message.contains(phrase)) {
            true => Adaptation::WithoutThinking,
            false => Adaptation::None,
        }
    }

    fn new_parser(names: ToolNames) -> AnthropicParser {
        AnthropicParser { names, ..AnthropicParser::default() }
    }
}

fn body(request: &ModelRequest<'_>, context: &RequestContext<'_>, variant: RequestVariant) -> Value {
    let thinking = thinking_parameter(context, variant.thinking);
    // A model with a budget must have thought before it called tools.
    let tool_loop = match thinking.as_ref().is_some_and(|thinking| thinking["type"] == "enabled") {
        true => ToolLoop::StartsWithThinking,
        false => ToolLoop::Any,
    };
    let mut body = json!({
        "model": context.model,
        "max_tokens": context.max_output_tokens,
        "stream": true,
        "messages": messages(request.entries, context, tool_loop),
    });
    if !request.system.is_empty() {
        // The system prompt is the same in every request, so the provider can cache it, together with the tools.
        body["system"] = json!([cached(json!({"type": "text", "text": request.system}))]);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &prowess_tools::ToolDefinition| {
            json!({
                "name": context.names.to_wire(&tool.name),
                "description": without_dots(&tool.description),
                "input_schema": tool.input_schema,
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    // The temperature cannot be changed for a model that thinks.
    let thinks = thinking.as_ref().is_some_and(|thinking| thinking["type"] != "disabled");
    if let Some(temperature) = context.settings.temperature.filter(|_| !thinks) {
        // The API accepts temperatures up to 1.
        body["temperature"] = temperature.value().min(1.0).into();
    }
    if let Some(thinking) = thinking {
        body["thinking"] = thinking;
    }
    if let Some(effort) = effort(context.settings.effort).filter(|_| !variant.without_effort) {
        body["output_config"] = json!({"effort": effort});
    }
    body
}

/// Returns the parameter `thinking`. A budget is less than the output limit; if that is too small, the model does not think.
fn thinking_parameter(context: &RequestContext<'_>, form: ThinkingForm) -> Option<Value> {
    let max = context.max_output_tokens.checked_sub(1).filter(|max| *max >= ThinkingMode::BUDGET_MIN);
    let budget = |tokens: u32| {
        let tokens = tokens.max(ThinkingMode::BUDGET_MIN);
        max.map(|max| json!({"type": "enabled", "budget_tokens": tokens.min(max)}))
    };
    let adaptive = || Some(json!({"type": "adaptive", "display": "summarized"}));
    match (context.settings.thinking, form) {
        (ThinkingMode::Auto, _) | (_, ThinkingForm::Omitted) => None,
        (ThinkingMode::Off, _) => Some(json!({"type": "disabled"})),
        (ThinkingMode::On, ThinkingForm::Configured)
        | (ThinkingMode::On | ThinkingMode::Budget(_), ThinkingForm::Adaptive) => adaptive(),
        (ThinkingMode::On, ThinkingForm::Budget) => budget(context.max_output_tokens / 2),
        (ThinkingMode::Budget(tokens), ThinkingForm::Configured | ThinkingForm::Budget) => budget(tokens),
    }
}

/// Returns the effort in the words of the API.
fn effort(effort: Effort) -> Option<&'static str> {
    match effort {
        Effort::Auto => None,
        Effort::None | Effort::Minimal => Some("low"),
        effort => Some(effort.as_str()),
    }
}

/// Parses the reply.
#[derive(Default)]
pub(super) struct AnthropicParser {
    names: ToolNames,
    /// The calls that are not complete yet: block, id, name, arguments.
    calls: Vec<(u64, String, String, String)>,
    /// The thinking that is not complete yet: block and seal.
    thinking: Vec<(u64, SealedContent)>,
    usage: TokenUsage,
    stop: Option<StopReason>,
}

impl ReplyParser for AnthropicParser {
    fn parse_event(&mut self, event: &SseEvent, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Malformed(format!("an event is not JSON: {error}")))?;
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => self.update_usage(&value["message"]["usage"], out),
            "content_block_start" => self.start_block(&value, out),
            "content_block_delta" => self.add_delta(&value, out)?,
            "content_block_stop" => self.finish_block(block_index(&value), out),
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
    fn start_block(&mut self, value: &Value, out: &mut VecDeque<Chunk>) {
        let (index, block) = (block_index(value), &value["content_block"]);
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str().unwrap_or_default() {
            "tool_use" => {
                // Usually empty here and sent in parts later.
                let input = block["input"].as_object().filter(|input| !input.is_empty());
                let input = input.map(|input| json!(input).to_string()).unwrap_or_default();
                self.calls.push((index, text("id"), text("name"), input));
            }
            "thinking" => {
                push_text(Chunk::Thinking, &block["thinking"], out);
                self.thinking.push((index, SealedContent::Signature { signature: text("signature") }));
            }
            "redacted_thinking" => {
                self.thinking.push((index, SealedContent::Redacted { data: text("data") }));
            }
            // Texts are usually empty here, too.
            _ => push_text(Chunk::Text, &block["text"], out),
        }
    }

    fn add_delta(&mut self, value: &Value, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        let (index, delta) = (block_index(value), &value["delta"]);
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => push_text(Chunk::Text, &delta["text"], out),
            "thinking_delta" => push_text(Chunk::Thinking, &delta["thinking"], out),
            "signature_delta" => {
                let open = self.thinking.iter_mut().find(|(block, _)| *block == index);
                if let Some((_, SealedContent::Signature { signature })) = open {
                    signature.push_str(delta["signature"].as_str().unwrap_or_default());
                }
            }
            "input_json_delta" => {
                let Some((.., arguments)) = self.calls.iter_mut().find(|(block, ..)| *block == index) else {
                    return Err(ModelError::Malformed("arguments without a call".to_owned()));
                };
                arguments.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    fn finish_block(&mut self, block: u64, out: &mut VecDeque<Chunk>) {
        if let Some(index) = self.calls.iter().position(|(open_block, ..)| *open_block == block) {
            let (_, id, name, arguments) = self.calls.remove(index);
            out.push_back(Chunk::Call { id, name: self.names.original_name(&name), arguments });
        }
        if let Some(index) = self.thinking.iter().position(|(open_block, _)| *open_block == block) {
            let (_, seal) = self.thinking.remove(index);
            // Other servers with this API do not sign the thinking, and do not expect it again.
            if seal.size() > 0 {
                out.push_back(Chunk::Sealed(seal));
            }
        }
    }

    fn update_usage(&mut self, usage: &Value, out: &mut VecDeque<Chunk>) {
        let count = |key: &str| usage[key].as_u64();
        if let Some(input) = count("input_tokens").filter(|input| *input > 0 || self.usage.input == 0) {
            let cached = count("cache_read_input_tokens").unwrap_or_default();
            let cache_writes = count("cache_creation_input_tokens").unwrap_or_default();
            self.usage.input = input.saturating_add(cached).saturating_add(cache_writes);
            (self.usage.cached, self.usage.cache_writes) = (cached, cache_writes);
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

fn push_text(chunk: fn(String) -> Chunk, text: &Value, out: &mut VecDeque<Chunk>) {
    if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
        out.push_back(chunk(text.to_owned()));
    }
}

fn block_index(value: &Value) -> u64 {
    value["index"].as_u64().unwrap_or_default()
}

fn parse_stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" => StopReason::Finished,
        "pause_turn" => StopReason::Paused,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Declined,
        other => StopReason::Other(other.to_owned()),
    }
}
