//! Fetches embeddings, vectors that represent the meaning of texts, from a server. Routing uses them to find skills.
//!
//! [`prowess_routing::semantic`] describes how they are used. Nothing is sent unless the user's own
//! configuration names a provider, and a key is only sent to the configured address.
//!
//! | module | subject |
//! |---|---|
//! | `setup` | creating an [`Embedder`](prowess_routing::semantic::Embedder) from the configuration |
//! | [`endpoint`] | a server with the API of OpenAI or Ollama |
//!
//! ```
//! use prowess_config::EmbeddingsSettings;
//!
//! // Disabled by default.
//! assert!(prowess_embed::semantic(&EmbeddingsSettings::default(), |_| None).is_none());
//! ```

pub mod endpoint;
mod setup;

pub use setup::{EmbedderSetupError, embedder, semantic};
