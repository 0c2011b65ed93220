//! The settings of embeddings, which compare the meaning of messages and skills. Data only; another crate calls
//! the models.

use std::time::Duration;

/// The section `[embeddings]`.
///
/// ```
/// use prowess_config::{EmbeddingsSettings, EmbeddingsProvider};
///
/// let embeddings = EmbeddingsSettings::default();
/// assert_eq!((embeddings.provider, embeddings.weight), (EmbeddingsProvider::Off, 100));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingsSettings {
    /// The API of the model.
    pub provider: EmbeddingsProvider,
    /// The provider's name of the model.
    pub model: Option<String>,
    /// The base URL of the provider, if not the default.
    pub base_url: Option<String>,
    /// Whether unencrypted connections to other machines are allowed.
    pub allow_http: bool,
    /// The environment variable that holds the API key.
    pub key_env: Option<String>,
    /// The weight of embeddings relative to words, in percent of the default.
    pub weight: u32,
    /// How long to wait for the embedding of a message.
    pub timeout: Duration,
}

impl Default for EmbeddingsSettings {
    fn default() -> Self {
        Self {
            provider: EmbeddingsProvider::default(),
            model: None,
            base_url: None,
            allow_http: false,
            key_env: None,
            weight: 100,
            timeout: Duration::from_secs(3),
        }
    }
}

prowess_format::named_enum! {
    /// The API of an embeddings model.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum EmbeddingsProvider {
        /// None: only words are compared.
        #[default]
        Off = "off",
        /// OpenAI's embeddings API, which many servers support.
        OpenAi = "openai",
        /// Ollama's API.
        Ollama = "ollama",
    }
}
