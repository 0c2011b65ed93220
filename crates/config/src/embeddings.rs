//! Who says how close a message and a skill are in meaning. Data only: whoever asks models is another crate.

use std::time::Duration;

/// What `[embeddings]` says.
///
/// ```
/// use prowess_config::{Embeddings, EmbeddingsProvider};
///
/// let embeddings = Embeddings::default();
/// assert_eq!((embeddings.provider, embeddings.weight), (EmbeddingsProvider::Off, 100));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embeddings {
    /// Whose interface the model is behind.
    pub provider: EmbeddingsProvider,
    /// The model, as the provider calls it.
    pub model: Option<String>,
    /// Where the provider is, if not at its usual place.
    pub base_url: Option<String>,
    /// Whether a server elsewhere may be talked to without encryption.
    pub allow_http: bool,
    /// The variable that holds the key.
    pub key_env: Option<String>,
    /// How much meaning counts beside words, in percent of what is usual.
    pub weight: u32,
    /// How long a message waits for its vector.
    pub timeout: Duration,
}

impl Default for Embeddings {
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

/// Whose interface a model of embeddings is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmbeddingsProvider {
    /// None: words decide alone.
    #[default]
    Off,
    /// OpenAI's embeddings, which many servers speak.
    OpenAi,
    /// Ollama's own.
    Ollama,
}

impl EmbeddingsProvider {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Off, Self::OpenAi, Self::Ollama];

    /// The word that stands in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
        }
    }
}
