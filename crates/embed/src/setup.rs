//! Creating an embedder from the configuration.

use std::ffi::OsString;
use std::sync::Arc;

use prowess_config::{BaseUrl, EmbeddingsProvider, EmbeddingsSettings, ParseBaseUrlError};
use prowess_routing::semantic::{DEFAULT_WEIGHT, EmbedError, Embedder, Purpose, SemanticStage};

use crate::endpoint::{ApiFormat, ApiKey, Endpoint};

/// Why there is no embedder. The message says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderSetupError {
    /// The model is not configured.
    #[error("embeddings.provider is {0}, but embeddings.model is not set")]
    NoModel(&'static str),
    /// The provider requires a key, and none is configured.
    #[error("{0} requires a key; set embeddings.key-env to the name of the variable that holds it")]
    NoKey(&'static str),
    /// The environment variable of the key is not set.
    #[error("the environment variable {0} from embeddings.key-env is not set")]
    NotSet(String),
    /// The variable does not hold a valid key. Its value is not shown.
    #[error(
        "the environment variable {0} does not hold a key: a key is one line of visible ASCII characters"
    )]
    InvalidKey(String),
    /// The URL is invalid, or a key must not be sent to it.
    #[error(transparent)]
    BaseUrl(#[from] ParseBaseUrlError),
}

/// Returns the configured semantic stage with its weight, or `None` if it is disabled. Nothing is read or sent
/// yet. `environment` looks up the variable that holds the key. If the configuration is incomplete, the stage
/// fails on first use and routing falls back to words; no message is rejected because of it.
pub fn semantic(
    embeddings: &EmbeddingsSettings,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Option<SemanticStage> {
    let weight = DEFAULT_WEIGHT * embeddings.weight as f32 / 100.0;
    let embedder =
        embedder(embeddings, environment).unwrap_or_else(|error| Some(Arc::new(InvalidSetup(error))))?;
    Some(SemanticStage::new(embedder).with_weight(weight))
}

/// An embedder that always fails with a setup error.
#[derive(Debug)]
struct InvalidSetup(EmbedderSetupError);

impl Embedder for InvalidSetup {
    fn identity(&self) -> Result<String, EmbedError> {
        Err(EmbedError::Failed(self.0.to_string()))
    }

    fn embed(&self, _: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Failed(self.0.to_string()))
    }
}

/// Returns the configured embedder, or `None` if embeddings are disabled.
pub fn embedder(
    embeddings: &EmbeddingsSettings,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<Arc<dyn Embedder>>, EmbedderSetupError> {
    let (format, default_url) = match embeddings.provider {
        EmbeddingsProvider::Off => return Ok(None),
        EmbeddingsProvider::OpenAi => (ApiFormat::OpenAi, "https://api.openai.com/v1"),
        EmbeddingsProvider::Ollama => (ApiFormat::Ollama, "http://127.0.0.1:11434"),
    };
    let provider = embeddings.provider.as_str();
    let model = embeddings.model.as_deref().ok_or(EmbedderSetupError::NoModel(provider))?;
    let address = BaseUrl::parse(
        "embeddings",
        embeddings.base_url.as_deref().unwrap_or(default_url),
        embeddings.allow_http,
    )?;
    let key = match &embeddings.key_env {
        Some(name) => {
            let value = environment(name).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| EmbedderSetupError::NotSet(name.clone()))?;
            Some(
                value
                    .to_str()
                    .and_then(ApiKey::new)
                    .ok_or_else(|| EmbedderSetupError::InvalidKey(name.clone()))?,
            )
        }
        // Self-hosted servers usually need no key.
        None if embeddings.base_url.is_some() || format == ApiFormat::Ollama => None,
        None => return Err(EmbedderSetupError::NoKey(provider)),
    };
    Ok(Some(Arc::new(Endpoint::new(format, &address, model, key, embeddings.timeout))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedder_with(
        change: impl Fn(&mut EmbeddingsSettings),
    ) -> Result<Option<Arc<dyn Embedder>>, EmbedderSetupError> {
        let mut embeddings = EmbeddingsSettings::default();
        change(&mut embeddings);
        embedder(&embeddings, |name| match name {
            "KEY" => Some("sk-123456".into()),
            "TWO" => Some("sk-\n-SECRET".into()),
            _ => None,
        })
    }

    #[test]
    fn setup_errors_say_what_to_do() {
        use EmbeddingsProvider::{Ollama, OpenAi};
        let model = || Some("m".to_owned());
        let cases: [&dyn Fn(&mut EmbeddingsSettings); 7] = [
            &|e| e.provider = OpenAi,
            &|e| (e.provider, e.model) = (OpenAi, model()),
            &|e| (e.provider, e.model, e.key_env) = (OpenAi, model(), Some("GONE".to_owned())),
            &|e| (e.provider, e.model, e.key_env) = (OpenAi, model(), Some("TWO".to_owned())),
            &|e| (e.provider, e.model, e.base_url) = (Ollama, model(), Some("http://10.0.0.1".to_owned())),
            &|e| (e.provider, e.model, e.base_url) = (Ollama, model(), Some("ftp://x".to_owned())),
            &|e| e.provider = Ollama,
        ];
        let messages: Vec<String> = cases
            .iter()
            .map(|case| embedder_with(case).expect_err("the setup is incomplete").to_string())
            .collect();
        insta::assert_snapshot!(messages.join("\n"));
        assert!(!messages.join("").contains("SECRET"));
    }

    #[test]
    fn a_complete_setup_works_and_never_shows_its_key() {
        let ollama =
            embedder_with(|e| (e.provider, e.model) = (EmbeddingsProvider::Ollama, Some("m".to_owned())));
        assert_eq!(ollama.unwrap().unwrap().identity().unwrap(), "ollama http://127.0.0.1:11434/ m");
        let openai = embedder_with(|e| {
            (e.provider, e.model, e.key_env) =
                (EmbeddingsProvider::OpenAi, Some("m".to_owned()), Some("KEY".to_owned()));
        });
        let openai = openai.unwrap().unwrap();
        assert!(!format!("{openai:?}").contains("123456"), "{openai:?}");
        assert!(embedder_with(|_| ()).unwrap().is_none());
    }
}
