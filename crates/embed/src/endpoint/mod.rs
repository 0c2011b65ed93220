//! A server that embeds texts, with the API of OpenAI or Ollama.
//!
//! Invariants: every wait has a timeout, responses are limited in size, requests go only to the configured
//! address, and no message contains a key or text from a server.

mod api_format;
mod http;

use std::time::Duration;

use prowess_config::BaseUrl;
use prowess_routing::semantic::{EmbedError, Embedder, Purpose};

pub use api_format::ApiFormat;

use http::Http;

pub use http::ApiKey;

/// The number of texts per request.
const BATCH_SIZE: usize = 32;

/// The timeout for embedding skills: a server may have to load its model first.
const SKILLS_TIMEOUT: Duration = Duration::from_secs(60);

/// A model behind a URL.
#[derive(Debug)]
pub struct Endpoint {
    format: ApiFormat,
    model: String,
    identity: String,
    http: Http,
    /// The timeout for a message.
    timeout: Duration,
}

impl Endpoint {
    /// Creates an endpoint. Nothing is sent yet.
    pub fn new(
        format: ApiFormat,
        address: &BaseUrl,
        model: &str,
        key: Option<ApiKey>,
        timeout: Duration,
    ) -> Self {
        let http = Http::new(address, format.path(), key);
        let identity = format!("{} {address} {model}", format.as_str());
        Self { format, model: model.to_owned(), identity, http, timeout }
    }
}

impl Embedder for Endpoint {
    fn identity(&self) -> Result<String, EmbedError> {
        Ok(self.identity.clone())
    }

    fn batch_size(&self) -> usize {
        BATCH_SIZE
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Servers reject blank texts.
        let texts: Vec<&str> =
            texts.iter().map(|text| if text.trim().is_empty() { "." } else { text }).collect();
        let timeout = match purpose {
            Purpose::Skills => SKILLS_TIMEOUT.max(self.timeout),
            Purpose::Message => self.timeout,
        };
        let response = self.http.post(&self.format.request(&self.model, &texts), timeout, texts.len())?;
        self.format.parse_vectors(&response, texts.len()).map_err(|error| match error {
            EmbedError::Failed(reason) => EmbedError::Failed(format!("{} {reason}", self.http.host())),
            error => error,
        })
    }
}
