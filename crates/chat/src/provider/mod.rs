//! Models behind other people's interfaces, all alike from here.
//!
//! | module | subject |
//! |---|---|
//! | `setup` | from the configuration to a model |
//! | `request` | what a model is asked, and what comes back |
//! | `secret` | the key to a provider |
//! | `streaming`, `retry` | one request: its waits, its bounds, and when it is sent again |
//! | `sse` | events out of bytes |
//! | `anthropic`, `responses`, `completions` | the three interfaces: what goes out, what comes back |
//! | [`rehearsal`] | what stands where a model would, if none is configured |
//! | `wire` | names of tools as those interfaces take them |
//!
//! What must always hold: a key goes to the configured address and nowhere else, over https or to this machine; no text
//! that leaves here has a key in it; and whatever a server sends is bounded before it is kept.

mod anthropic;
mod completions;
mod error;
pub mod rehearsal;
mod remote;
mod request;
mod responses;
mod retry;
mod secret;
mod setup;
mod sse;
mod streaming;
mod wire;

use std::fmt;
use std::pin::Pin;

pub use error::{ModelError, Waited};
pub use request::{Call, CallResult, Chunk, Entry, Request, Stop};
pub use retry::Backoff;
pub use secret::{Secret, SecretError};
pub use setup::{SetupError, connect, connect_with};
pub use wire::without_dots;

/// Something that is not there yet.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model.
pub trait Model: Send + Sync + fmt::Debug {
    /// Whose interface it is behind, and what it is called there.
    fn name(&self) -> String;

    /// Whether it is offered tools. It may turn out that it cannot call them: then this is no longer so.
    fn can_call_tools(&self) -> bool;

    /// Whether it knows tools by names without dots only.
    fn forbids_dots(&self) -> bool {
        true
    }

    /// Asks it. The answer comes in pieces; whoever drops it is not answered any further.
    fn answer<'a>(&'a self, request: Request<'a>) -> Box<dyn Answer + 'a>;
}

/// The answer of a model, as it comes.
pub trait Answer: Send {
    /// The next piece; `None` once there is no more. The last one is [`Chunk::End`].
    fn next(&mut self) -> Pending<'_, Result<Option<Chunk>, ModelError>>;
}
