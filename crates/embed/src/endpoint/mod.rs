//! A server that turns texts into vectors, and speaks as OpenAI or Ollama do.
//!
//! What must always hold: every wait has an end, no more is read than so many vectors can take, requests go to the
//! configured address and nowhere else, and no message holds a key or what a server said.

mod http;
mod shape;

use std::time::Duration;

use prowess_config::BaseUrl;
use prowess_routing::semantic::{EmbedError, Embedder, Purpose};

pub use shape::Shape;

use http::Http;

pub use http::Key;

/// How many texts one request has.
const BATCH: usize = 32;

/// How long a request with many texts may take: a server may have to load its model first.
const SKILLS: Duration = Duration::from_secs(60);

/// A model behind an address.
#[derive(Debug)]
pub struct Endpoint {
    shape: Shape,
    model: String,
    identity: String,
    http: Http,
    /// How long a message waits.
    timeout: Duration,
}

impl Endpoint {
    /// A model behind an address. Nothing is sent yet.
    pub fn new(shape: Shape, address: &BaseUrl, model: &str, key: Option<Key>, timeout: Duration) -> Self {
        let http = Http::new(address, shape.path(), key);
        let identity = format!("{} {address} {model}", shape.as_str());
        Self { shape, model: model.to_owned(), identity, http, timeout }
    }
}

impl Embedder for Endpoint {
    fn identity(&self) -> Result<String, EmbedError> {
        Ok(self.identity.clone())
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Servers refuse a text without a word in it.
        let texts: Vec<&str> =
            texts.iter().map(|text| if text.trim().is_empty() { "." } else { text }).collect();
        let most = match purpose {
            Purpose::Skills => SKILLS.max(self.timeout),
            Purpose::Message => self.timeout,
        };
        let answer = self.http.post(&self.shape.request(&self.model, &texts), most, texts.len())?;
        self.shape.vectors(&answer, texts.len()).map_err(|error| match error {
            EmbedError::Failed(why) => EmbedError::Failed(format!("{} {why}", self.http.host())),
            other => other,
        })
    }
}
