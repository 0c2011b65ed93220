//! Embeddings for routing, from an endpoint.
//!
//! [`prowess_routing::semantic`] says what becomes of them. Nothing is sent anywhere unless the user's own configuration
//! names a provider, and a key goes to the configured address only.
//!
//! | module | subject |
//! |---|---|
//! | `setup` | from the configuration to an [`Embedder`](prowess_routing::semantic::Embedder) |
//! | [`endpoint`] | a server that speaks as OpenAI or Ollama do |
//!
//! ```
//! use prowess_config::Embeddings;
//!
//! // Off, unless the user says otherwise.
//! assert!(prowess_embed::semantic(&Embeddings::default(), |_| None).is_none());
//! ```

pub mod endpoint;
mod setup;

pub use setup::{SetupError, embedder, semantic};
