//! A model behind one of the provider APIs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use prowess_config::{ModelOverrides, ModelSettings, RESERVED_BODY_KEYS};
use serde_json::{Map, Value};

use super::request::ModelRequest;
use super::streaming::{OutgoingRequest, ProviderClient, ReplyParser, StreamingReply};
use super::tool_names::ToolNames;
use super::{Model, ReplyStream};

pub(super) trait ProviderApi: fmt::Debug + Send + Sync + 'static {
    /// The name in the configuration.
    const NAME: &'static str;

    type Parser: ReplyParser;

    /// Returns the body of a request.
    fn body(&self, request: &ModelRequest<'_>, context: &RequestContext<'_>) -> Value;

    /// Returns how to change a request that was rejected with this message. The API remembers it, except for
    /// [`Adaptation::WithoutThinking`].
    fn adapt(&self, _sent: &Value, _message: &str) -> Adaptation {
        Adaptation::None
    }

    /// Creates the parser for the reply to a request with these tool names.
    fn new_parser(names: ToolNames) -> Self::Parser;
}

/// What a request depends on besides the conversation.
pub(super) struct RequestContext<'a> {
    pub(super) model: &'a str,
    pub(super) settings: &'a ModelSettings,
    pub(super) names: &'a ToolNames,
    pub(super) max_output_tokens: u32,
    /// The model whose thinking is sent back, as in [`Model::name`]; `None` to send none.
    pub(super) thinking_of: Option<&'a str>,
}

/// How to change a rejected request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Adaptation {
    /// Nothing helps.
    None,
    /// Write the request in the form that the API remembers now.
    Rewrite,
    /// Send the request without earlier thinking.
    WithoutThinking,
}

/// A model behind a provider API.
#[derive(Debug)]
pub(super) struct RemoteModel<I> {
    pub(super) http: ProviderClient,
    pub(super) model: String,
    pub(super) tools: bool,
    pub(super) settings: RequestSettings,
    pub(super) api: I,
}

/// What requests ask of each model.
#[derive(Debug)]
pub(super) struct RequestSettings {
    pub(super) all: ModelSettings,
    pub(super) models: BTreeMap<String, ModelOverrides>,
}

impl RequestSettings {
    fn of(&self, model: &str) -> ModelSettings {
        self.models
            .get(model)
            .map_or_else(|| self.all.clone(), |overrides| self.all.with_overrides(overrides))
    }
}

impl<I: ProviderApi> Model for RemoteModel<I> {
    fn name(&self) -> String {
        self.name_for(None)
    }

    fn name_for(&self, model: Option<&str>) -> String {
        format!("{}: {}", I::NAME, model.unwrap_or(&self.model))
    }

    fn can_call_tools(&self) -> bool {
        self.tools && !self.http.lacks_tools()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> Box<dyn ReplyStream + 'a> {
        let names = ToolNames::new(request.tools);
        let model = request.model.unwrap_or(&self.model);
        let (name, settings) = (self.name_for(Some(model)), self.settings.of(model));
        let extra_headers = settings.extra_headers.clone();
        let tool_names = names.clone();
        let render = move |thinking: bool| {
            let mut body = self.api.body(
                &request,
                &RequestContext {
                    model,
                    settings: &settings,
                    names: &tool_names,
                    max_output_tokens: settings.output_tokens.unwrap_or(request.max_output_tokens),
                    thinking_of: thinking.then_some(name.as_str()),
                },
            );
            if let Some(fields) = body.as_object_mut() {
                merge_extra_body(fields, &settings.extra_body);
            }
            body
        };
        let outgoing =
            OutgoingRequest { body: render(true), extra_headers, tools: !request.tools.is_empty() };
        let thinking = AtomicBool::new(true);
        let adapt = move |sent: &Value, message: &str| match self.api.adapt(sent, message) {
            Adaptation::None => None,
            Adaptation::Rewrite => Some(render(thinking.load(Ordering::Relaxed))),
            // Only once: without thinking, the request can no longer be rejected because of it.
            Adaptation::WithoutThinking => thinking.swap(false, Ordering::Relaxed).then(|| render(false)),
        };
        StreamingReply::boxed(&self.http, outgoing, adapt, move || I::new_parser(names.clone()))
    }
}

/// Adds the fields of `extra-body`, except for those of the conversation. Objects are merged.
fn merge_extra_body(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra.iter().filter(|(key, _)| !RESERVED_BODY_KEYS.contains(&key.as_str())) {
        match (body.get_mut(key), value) {
            (Some(Value::Object(existing)), Value::Object(added)) => existing.extend(added.clone()),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Phrases of servers that reject a parameter.
const UNSUPPORTED: [&str; 9] = [
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

/// Returns `true` if a lower-case message says that something is not supported.
pub(super) fn is_unsupported(message: &str) -> bool {
    UNSUPPORTED.iter().any(|phrase| message.contains(phrase))
}
