//! OpenAI's Chat Completions, as many servers speak it: some leave things out, some add to it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::error::ModelError;
use super::remote::Interface;
use super::request::{Call, Chunk, Entry, Request, Stop};
use super::sse::Event;
use super::streaming::{Protocol, reported};
use super::wire::{Names, without_dots};
use crate::message::Usage;

/// Chat Completions.
#[derive(Debug)]
pub(super) struct Completions {
    form: Mutex<Form>,
}

/// How a request is written. Servers and models differ; what one refuses is remembered for as long as it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    /// Whether the bound on the answer is called `max_completion_tokens`, as OpenAI's newer models want it.
    completion_tokens: bool,
    /// Whether the cost is asked for with `stream_options`.
    stream_options: bool,
}

impl Completions {
    /// OpenAI's own server has another name for the bound on the answer than all others.
    pub(super) fn new(is_openai: bool) -> Self {
        Self { form: Mutex::new(Form { completion_tokens: is_openai, stream_options: true }) }
    }

    fn form(&self) -> Form {
        *self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Form {
    fn max_tokens(self) -> &'static str {
        if self.completion_tokens { "max_completion_tokens" } else { "max_tokens" }
    }

    /// The form to ask with after a request in this one was refused with these words; `None` where they are about something
    /// else.
    fn after(self, words: &str) -> Option<Self> {
        let words = words.to_lowercase();
        let is_about_form = UNKNOWN.iter().any(|unknown| words.contains(unknown));
        let names = |key: &str| {
            words
                .match_indices(key)
                .any(|(at, _)| !words[..at].ends_with(|c: char| c == '_' || c.is_alphanumeric()))
        };
        if is_about_form && self.stream_options && names("stream_options") {
            return Some(Self { stream_options: false, ..self });
        }
        (is_about_form && names(self.max_tokens()))
            .then_some(Self { completion_tokens: !self.completion_tokens, ..self })
    }
}

/// How servers say that they do not know a parameter.
const UNKNOWN: [&str; 9] = [
    "unsupported",
    "not supported",
    "does not support",
    "unknown",
    "unrecognized",
    "unexpected",
    "not permitted",
    "not allowed",
    "extra inputs",
];

impl Interface for Completions {
    const NAME: &'static str = "openai-chat";
    type Reading = Reading;

    fn body(&self, model: &str, request: &Request<'_>, names: &Names) -> Value {
        let system =
            (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
        let messages =
            system.into_iter().chain(request.entries.iter().flat_map(|entry| messages(entry, names)));
        let mut body = json!({
            "model": model,
            "stream": true,
            "messages": messages.collect::<Vec<_>>(),
        });
        let form = self.form();
        if form.stream_options {
            body["stream_options"] = json!({"include_usage": true});
        }
        body[form.max_tokens()] = request.max_output_tokens.into();
        if !request.tools.is_empty() {
            let tool = |tool: &prowess_tools::ToolDefinition| {
                json!({"type": "function", "function": {
                    "name": names.outward(&tool.name),
                    "description": without_dots(&tool.description),
                    "parameters": tool.input_schema,
                }})
            };
            body["tools"] = request.tools.iter().map(tool).collect();
        }
        body
    }

    fn adapt(&self, sent: &Value, words: &str) -> bool {
        let sent = Form {
            completion_tokens: sent.get("max_completion_tokens").is_some(),
            stream_options: sent.get("stream_options").is_some(),
        };
        let Some(form) = sent.after(words) else { return false };
        *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form;
        true
    }

    fn reading(names: Names) -> Reading {
        Reading { names, ..Reading::default() }
    }
}

fn messages(entry: &Entry, names: &Names) -> Vec<Value> {
    match entry {
        Entry::User(text) => vec![json!({"role": "user", "content": text})],
        Entry::Assistant { text, calls } => {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let call = |call: &Call| {
                    let arguments =
                        if call.arguments.is_object() { call.arguments.to_string() } else { "{}".to_owned() };
                    json!({"id": call.id, "type": "function", "function": {
                        "name": names.outward(&call.name),
                        "arguments": arguments,
                    }})
                };
                message["tool_calls"] = calls.iter().map(call).collect();
            }
            vec![message]
        }
        Entry::Results(results) => results
            .iter()
            .map(|result| json!({"role": "tool", "tool_call_id": result.id, "content": result.text}))
            .collect(),
    }
}

/// What comes back.
#[derive(Default)]
pub(super) struct Reading {
    names: Names,
    calls: Vec<Building>,
    stop: Option<Stop>,
    /// The model declined, and said so in words; it stops as if it had answered.
    refused: bool,
}

/// A call that is not whole yet.
#[derive(Default)]
struct Building {
    place: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Protocol for Reading {
    fn event(&mut self, event: &Event, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        if event.data.trim() == "[DONE]" {
            self.end(out);
            return Ok(());
        }
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Malformed(format!("an event is not JSON: {error}")))?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(reported(&value));
        }
        if value["usage"].is_object() {
            let usage = &value["usage"];
            let count = |value: &Value| value.as_u64().unwrap_or_default();
            out.push_back(Chunk::Usage(Usage {
                input: count(&usage["prompt_tokens"]),
                output: count(&usage["completion_tokens"]),
                cached: count(&usage["prompt_tokens_details"]["cached_tokens"]),
            }));
        }
        let choice = &value["choices"][0];
        for key in ["content", "refusal"] {
            if let Some(text) = choice["delta"][key].as_str().filter(|text| !text.is_empty()) {
                self.refused |= key == "refusal";
                out.push_back(Chunk::Text(text.to_owned()));
            }
        }
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            self.piece(call);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.stop = Some(match reason {
                "stop" | "tool_calls" | "function_call" | "" => Stop::Finished,
                "length" => Stop::Length,
                "content_filter" => Stop::Declined,
                "error" => return Err(ModelError::BrokeOff("the provider gave up".to_owned())),
                other => Stop::Other(other.to_owned()),
            });
        }
        Ok(())
    }

    fn ended(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        if self.stop.is_none() {
            return Err(ModelError::BrokeOff("the stream ended before the answer did".to_owned()));
        }
        // Not everybody says [DONE].
        self.end(out);
        Ok(())
    }
}

impl Reading {
    /// A piece of a call. The place tells which, where there is one; an id that is new begins another, for servers that
    /// give all calls the same place.
    fn piece(&mut self, piece: &Value) {
        let place = piece["index"].as_u64();
        let id = piece["id"].as_str().unwrap_or_default();
        let same_id = |call: &Building| id.is_empty() || call.id.is_empty() || call.id == id;
        let known = self.calls.iter().rposition(|call| match place {
            Some(_) => call.place == place,
            None => !id.is_empty() && call.id == id,
        });
        let known =
            known.or_else(|| (place.is_none() && id.is_empty()).then(|| self.calls.len().checked_sub(1))?);
        let at = match known.filter(|at| self.calls.get(*at).is_some_and(same_id)) {
            Some(at) => at,
            None => {
                self.calls.push(Building { place, ..Building::default() });
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        let function = &piece["function"];
        let name = function["name"].as_str().unwrap_or_default();
        // Most send the name once and whole; a few repeat it with each piece.
        if call.name.is_empty() || (!name.is_empty() && call.arguments.is_empty() && call.name != name) {
            call.name.push_str(name);
        }
        match &function["arguments"] {
            Value::String(arguments) => call.arguments.push_str(arguments),
            Value::Object(arguments) => call.arguments = json!(arguments).to_string(),
            _ => {}
        }
    }

    fn end(&mut self, out: &mut VecDeque<Chunk>) {
        for (number, call) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            let id = if call.id.is_empty() { format!("call_{number}") } else { call.id };
            out.push_back(Chunk::Call { id, name: self.names.inward(&call.name), arguments: call.arguments });
        }
        let stop = self.stop.take().unwrap_or(Stop::Finished);
        out.push_back(Chunk::End(if self.refused && stop == Stop::Finished { Stop::Declined } else { stop }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_say_of_a_form_they_do_not_take() {
        let usual = Form { completion_tokens: false, stream_options: true };
        let newer = Form { completion_tokens: true, ..usual };
        let plain = Form { stream_options: false, ..usual };
        for (form, words, then) in [
            (
                usual,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(newer),
            ),
            (newer, "Unrecognized request argument supplied: max_completion_tokens", Some(usual)),
            (newer, "body.max_completion_tokens: Extra inputs are not permitted", Some(usual)),
            (usual, "Unknown field: stream_options", Some(plain)),
            (usual, "[{'loc': ['stream_options'], 'msg': 'Extra inputs are not permitted'}]", Some(plain)),
            (plain, "Unknown field: stream_options", None),
            // It knows the parameter, and does not like its value.
            (
                usual,
                "max_tokens is too large: 100000. This model takes at most 16384 completion tokens",
                None,
            ),
            (usual, "Unknown model", None),
            // Not the one that was sent.
            (usual, "unsupported: max_completion_tokens", None),
        ] {
            assert_eq!(form.after(words), then, "{words}");
        }
    }
}
