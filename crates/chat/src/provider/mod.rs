//! Language models behind a common interface.
//!
//! | module | subject |
//! |---|---|
//! | `setup` | creates a model from the configuration |
//! | `request` | requests to a model and chunks of its reply |
//! | `endpoint`, `secret` | the address of the provider and the API key |
//! | `streaming`, `retry` | one request: timeouts, limits and retries |
//! | `sse` | parses server-sent events |
//! | `anthropic`, `responses`, `completions` | the three provider APIs |
//! | `inline_thinking` | separates thinking from the text of a reply |
//! | `models` | asks a provider for the names of its models |
//! | [`rehearsal`] | a scripted model, used if no provider is configured |
//! | `tool_names` | tool names in the form that provider APIs accept |
//!
//! Invariants: a key is sent only to the configured address, over https or to this machine unless the user allows http; no error message contains a key;
//! everything a server sends is limited before it is stored.

mod anthropic;
mod completions;
mod endpoint;
mod error;
mod inline_thinking;
mod models;
pub mod rehearsal;
mod remote;
mod request;
mod responses;
mod retry;
mod secret;
mod setup;
mod sse;
mod streaming;
mod tool_names;

use std::fmt;

use async_trait::async_trait;

pub use endpoint::ProviderEndpoint;
pub use error::{ModelError, TimeoutPhase};
pub use models::ListModelsError;
pub use request::{
    Chunk, ConversationEntry, ModelRequest, StopReason, ThinkingBlock, ToolInvocation, ToolOutput,
};
pub use retry::Backoff;
pub use secret::{Secret, SecretError};
pub use setup::{ModelSetupError, connect, connect_with};
pub use tool_names::without_dots;

/// A language model.
pub trait Model: Send + Sync + fmt::Debug {
    /// Returns the provider and the model's name.
    fn name(&self) -> String;

    /// Returns the provider and the name of the model that a request is for; see [`ModelRequest::model`].
    fn name_for(&self, model: Option<&str>) -> String {
        let _ = model;
        self.name()
    }

    /// Returns `true` if tools are offered to the model. Becomes `false` after the server reports that the model cannot
    /// call tools.
    fn can_call_tools(&self) -> bool;

    /// Returns `true` if the model only accepts tool names without dots.
    fn forbids_dots(&self) -> bool {
        true
    }

    /// Returns `true` if the model can summarize a conversation.
    fn can_summarize(&self) -> bool {
        true
    }

    /// Sends a request. The reply arrives in chunks; dropping the stream cancels it.
    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> Box<dyn ReplyStream + 'a>;
}

/// The streamed reply of a model.
#[async_trait]
pub trait ReplyStream: Send {
    /// Returns the next chunk, or `None` after the last one, which is [`Chunk::End`].
    async fn next(&mut self) -> Result<Option<Chunk>, ModelError>;
}
