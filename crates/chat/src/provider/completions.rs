//! OpenAI's Chat Completions API. Many servers implement it, with omissions and extensions.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::error::ModelError;
use super::inline_thinking::InlineThinking;
use super::remote::{Adaptation, ProviderApi, RequestContext, is_unsupported};
use super::request::{Chunk, ConversationEntry, ModelRequest, StopReason, ToolInvocation};
use super::responses::effort;
use super::sse::SseEvent;
use super::streaming::{ReplyParser, stream_error};
use super::tool_names::{ToolNames, without_dots};
use crate::message::TokenUsage;

/// The Chat Completions API.
#[derive(Debug)]
pub(super) struct ChatCompletions {
    variant: Mutex<RequestVariant>,
}

/// How a request is written. Servers and models differ; if one is rejected, the other is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RequestVariant {
    /// Whether the output limit is called `max_completion_tokens`, as OpenAI's newer models require.
    completion_tokens: bool,
    /// Whether usage is requested with `stream_options`.
    stream_options: bool,
}

impl ChatCompletions {
    /// `is_openai` selects the parameters of OpenAI's own server.
    pub(super) fn new(is_openai: bool) -> Self {
        Self { variant: Mutex::new(RequestVariant { completion_tokens: is_openai, stream_options: true }) }
    }

    fn variant(&self) -> RequestVariant {
        *self.variant.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestVariant {
    fn max_tokens(self) -> &'static str {
        if self.completion_tokens { "max_completion_tokens" } else { "max_tokens" }
    }

    /// Returns the variant to use after this one was rejected with this message, or `None` if the message is about
    /// something else.
    fn fallback(self, message: &str) -> Option<Self> {
        let message = message.to_lowercase();
        let is_unsupported = is_unsupported(&message);
        let mentions = |key: &str| {
            message
                .match_indices(key)
                .any(|(start, _)| !message[..start].ends_with(|c: char| c == '_' || c.is_alphanumeric()))
        };
        if is_unsupported && self.stream_options && mentions("stream_options") {
            return Some(Self { stream_options: false, ..self });
        }
        (is_unsupported && mentions(self.max_tokens()))
            .then_some(Self { completion_tokens: !self.completion_tokens, ..self })
    }
}

impl ProviderApi for ChatCompletions {
    const NAME: &'static str = "openai-chat";
    type Parser = ChatCompletionsParser;

    fn body(&self, request: &ModelRequest<'_>, context: &RequestContext<'_>) -> Value {
        let names = context.names;
        let system =
            (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
        let messages =
            system.into_iter().chain(request.entries.iter().flat_map(|entry| messages(entry, names)));
        let mut body = json!({
            "model": context.model,
            "stream": true,
            "messages": messages.collect::<Vec<_>>(),
        });
        let variant = self.variant();
        if variant.stream_options {
            body["stream_options"] = json!({"include_usage": true});
        }
        body[variant.max_tokens()] = context.max_output_tokens.into();
        if let Some(effort) = effort(context.settings.effort) {
            body["reasoning_effort"] = effort.into();
        }
        if let Some(temperature) = context.settings.temperature {
            body["temperature"] = temperature.value().into();
        }
        if !request.tools.is_empty() {
            let tool = |tool: &prowess_tools::ToolDefinition| {
                json!({"type": "function", "function": {
                    "name": names.to_wire(&tool.name),
                    "description": without_dots(&tool.description),
                    "parameters": tool.input_schema,
                }})
            };
            body["tools"] = request.tools.iter().map(tool).collect();
        }
        body
    }

    fn adapt(&self, request: &Value, message: &str) -> Adaptation {
        let rejected = RequestVariant {
            completion_tokens: request.get("max_completion_tokens").is_some(),
            stream_options: request.get("stream_options").is_some(),
        };
        let Some(variant) = rejected.fallback(message) else { return Adaptation::None };
        *self.variant.lock().unwrap_or_else(PoisonError::into_inner) = variant;
        Adaptation::Rewrite
    }

    fn new_parser(names: ToolNames) -> ChatCompletionsParser {
        ChatCompletionsParser { names, ..ChatCompletionsParser::default() }
    }
}

fn messages(entry: &ConversationEntry, names: &ToolNames) -> Vec<Value> {
    match entry {
        ConversationEntry::User(text) => vec![json!({"role": "user", "content": text})],
        ConversationEntry::Assistant { text, calls, .. } => {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let call = |call: &ToolInvocation| {
                    let arguments =
                        if call.arguments.is_object() { call.arguments.to_string() } else { "{}".to_owned() };
                    json!({"id": call.id, "type": "function", "function": {
                        "name": names.to_wire(&call.name),
                        "arguments": arguments,
                    }})
                };
                message["tool_calls"] = calls.iter().map(call).collect();
            }
            vec![message]
        }
        ConversationEntry::Results(results) => results
            .iter()
            .map(|result| json!({"role": "tool", "tool_call_id": result.id, "content": result.text}))
            .collect(),
    }
}

/// Parses the reply.
#[derive(Default)]
pub(super) struct ChatCompletionsParser {
    names: ToolNames,
    calls: Vec<PartialCall>,
    stop: Option<StopReason>,
    content: InlineThinking,
    /// The model refused in text; it stops as if it had replied normally.
    refused: bool,
}

/// A tool call of which more may arrive.
#[derive(Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl ReplyParser for ChatCompletionsParser {
    fn parse_event(&mut self, event: &SseEvent, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        if event.data.trim() == "[DONE]" {
            self.finish(out);
            return Ok(());
        }
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Malformed(format!("an event is not JSON: {error}")))?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(stream_error(&value));
        }
        if value["usage"].is_object() {
            let usage = &value["usage"];
            let count = |value: &Value| value.as_u64().unwrap_or_default();
            out.push_back(Chunk::Usage(TokenUsage {
                input: count(&usage["prompt_tokens"]),
                output: count(&usage["completion_tokens"]),
                cached: count(&usage["prompt_tokens_details"]["cached_tokens"]),
                cache_writes: 0,
            }));
        }
        let choice = &value["choices"][0];
        let text = |key: &str| choice["delta"][key].as_str().filter(|text| !text.is_empty());
        // Servers use either name for thinking; a few send both.
        if let Some(thinking) = text("reasoning_content").or_else(|| text("reasoning")) {
            out.push_back(Chunk::Thinking(thinking.to_owned()));
        }
        if let Some(content) = text("content") {
            self.content.push(content, out);
        }
        if let Some(refusal) = text("refusal") {
            self.refused = true;
            out.push_back(Chunk::Text(refusal.to_owned()));
        }
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            self.add_call_delta(call);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.stop = Some(match reason {
                "stop" | "tool_calls" | "function_call" | "" => StopReason::Finished,
                "length" => StopReason::Length,
                "content_filter" => StopReason::Declined,
                "error" => return Err(ModelError::Interrupted("the provider aborted the reply".to_owned())),
                other => StopReason::Other(other.to_owned()),
            });
        }
        Ok(())
    }

    fn end_of_stream(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        if self.stop.is_none() {
            return Err(ModelError::Interrupted("the stream ended before the reply was complete".to_owned()));
        }
        // Not every server sends [DONE].
        self.finish(out);
        Ok(())
    }
}

impl ChatCompletionsParser {
    /// Adds a part of a tool call. The index identifies the call, if there is one. A new id starts another call, because
    /// some servers use the same index for all calls.
    fn add_call_delta(&mut self, delta: &Value) {
        let index = delta["index"].as_u64();
        let id = delta["id"].as_str().unwrap_or_default();
        let same_id = |call: &PartialCall| id.is_empty() || call.id.is_empty() || call.id == id;
        let existing = self.calls.iter().rposition(|call| match index {
            Some(_) => call.index == index,
            None => !id.is_empty() && call.id == id,
        });
        let existing = existing
            .or_else(|| (index.is_none() && id.is_empty()).then(|| self.calls.len().checked_sub(1))?);
        let position = match existing.filter(|position| self.calls.get(*position).is_some_and(same_id)) {
            Some(position) => position,
            None => {
                self.calls.push(PartialCall { index, ..PartialCall::default() });
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(position) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        let function = &delta["function"];
        let name = function["name"].as_str().unwrap_or_default();
        // Most servers send the whole name once; a few repeat it with each part.
        if call.name.is_empty() || (!name.is_empty() && call.arguments.is_empty() && call.name != name) {
            call.name.push_str(name);
        }
        match &function["arguments"] {
            Value::String(arguments) => call.arguments.push_str(arguments),
            Value::Object(arguments) => call.arguments = json!(arguments).to_string(),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut VecDeque<Chunk>) {
        self.content.finish(out);
        for (number, call) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            let id = if call.id.is_empty() { format!("call_{number}") } else { call.id };
            out.push_back(Chunk::Call {
                id,
                name: self.names.original_name(&call.name),
                arguments: call.arguments,
            });
        }
        let stop = self.stop.take().unwrap_or(StopReason::Finished);
        out.push_back(Chunk::End(if self.refused && stop == StopReason::Finished {
            StopReason::Declined
        } else {
            stop
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_parameters_select_another_variant() {
        let default = RequestVariant { completion_tokens: false, stream_options: true };
        let newer = RequestVariant { completion_tokens: true, ..default };
        let without_usage = RequestVariant { stream_options: false, ..default };
        for (variant, message, expected) in [
            (
                default,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(newer),
            ),
            (newer, "Unrecognized request argument supplied: max_completion_tokens", Some(default)),
            (newer, "body.max_completion_tokens: Extra inputs are not permitted", Some(default)),
            (default, "Unknown field: stream_options", Some(without_usage)),
            (
                default,
                "[{'loc': ['stream_options'], 'msg': 'Extra inputs are not permitted'}]",
                Some(without_usage),
            ),
            (without_usage, "Unknown field: stream_options", None),
            // The parameter is known, but its value is not accepted.
            (
                default,
                "max_tokens is too large: 100000. This model takes at most 16384 completion tokens",
                None,
            ),
            (default, "Unknown model", None),
            // Not the parameter that was sent.
            (default, "unsupported: max_completion_tokens", None),
        ] {
            assert_eq!(variant.fallback(message), expected, "{message}");
        }
    }
}
