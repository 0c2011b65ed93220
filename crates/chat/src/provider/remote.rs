//! A model behind one of the provider APIs.

use std::fmt;

use serde_json::Value;

use super::request::ModelRequest;
use super::streaming::{ProviderClient, ReplyParser, StreamingReply};
use super::tool_names::ToolNames;
use super::{Model, ReplyStream};

pub(super) trait ProviderApi: fmt::Debug + Send + Sync + 'static {
    /// The name in the configuration.
    const NAME: &'static str;

    type Parser: ReplyParser;

    fn body(&self, model: &str, request: &ModelRequest<'_>, names: &ToolNames) -> Value;

    /// Returns `true` if a request that was rejected with this message should be sent again in a different form. The
    /// form is remembered.
    fn adapt(&self, _sent: &Value, _message: &str) -> bool {
        false
    }

    /// Creates the parser for the reply to a request with these tool names.
    fn new_parser(names: ToolNames) -> Self::Parser;
}

/// A model behind a provider API.
#[derive(Debug)]
pub(super) struct RemoteModel<I> {
    pub(super) http: ProviderClient,
    pub(super) model: String,
    pub(super) tools: bool,
    pub(super) api: I,
}

impl<I: ProviderApi> Model for RemoteModel<I> {
    fn name(&self) -> String {
        format!("{}: {}", I::NAME, self.model)
    }

    fn can_call_tools(&self) -> bool {
        self.tools && !self.http.lacks_tools()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> Box<dyn ReplyStream + 'a> {
        let names = ToolNames::new(request.tools);
        let model = request.model.unwrap_or(&self.model);
        let body = self.api.body(model, &request, &names);
        let tools = !request.tools.is_empty();
        let tool_names = names.clone();
        let adapt = move |request_body: &Value, message: &str| {
            self.api.adapt(request_body, message).then(|| self.api.body(model, &request, &tool_names))
        };
        StreamingReply::boxed(&self.http, body, tools, adapt, move || I::new_parser(names.clone()))
    }
}
