//! A model somewhere else, behind any of the interfaces.

use std::fmt;

use serde_json::Value;

use super::request::Request;
use super::streaming::{Http, Protocol, Streaming};
use super::wire::Names;
use super::{Answer, Model};

/// In what one interface differs from another.
pub(super) trait Interface: fmt::Debug + Send + Sync + 'static {
    /// What it is called in the configuration.
    const NAME: &'static str;

    /// What reads an answer.
    type Reading: Protocol;

    /// What goes out.
    fn body(&self, model: &str, request: &Request<'_>, names: &Names) -> Value;

    /// Whether a request that was refused with these words is worth sending again in another form, which is remembered.
    fn adapt(&self, _sent: &Value, _words: &str) -> bool {
        false
    }

    /// What reads the answer to a request that used these names.
    fn reading(names: Names) -> Self::Reading;
}

/// A model behind an interface.
#[derive(Debug)]
pub(super) struct Remote<I> {
    pub(super) http: Http,
    pub(super) model: String,
    pub(super) tools: bool,
    pub(super) interface: I,
}

impl<I: Interface> Model for Remote<I> {
    fn name(&self) -> String {
        format!("{}: {}", I::NAME, self.model)
    }

    fn can_call_tools(&self) -> bool {
        self.tools && !self.http.lacks_tools()
    }

    fn answer<'a>(&'a self, request: Request<'a>) -> Box<dyn Answer + 'a> {
        let names = Names::of(request.tools);
        let body = self.interface.body(&self.model, &request, &names);
        let tools = !request.tools.is_empty();
        let known = names.clone();
        let adapt = move |sent: &Value, words: &str| {
            self.interface.adapt(sent, words).then(|| self.interface.body(&self.model, &request, &known))
        };
        Streaming::boxed(&self.http, body, tools, adapt, move || I::reading(names.clone()))
    }
}
