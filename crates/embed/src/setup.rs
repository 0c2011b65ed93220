//! From the configuration to an embedder.

use std::ffi::OsString;
use std::sync::Arc;

use prowess_config::{BaseUrl, BaseUrlError, Embeddings, EmbeddingsProvider};
use prowess_routing::semantic::{EmbedError, Embedder, Purpose, Semantic, WEIGHT};

use crate::endpoint::{Endpoint, Key, Shape};

/// Why there is no embedder. What can be done is part of the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// Nobody said which model.
    #[error("embeddings.provider is {0}, and embeddings.model does not say which model")]
    NoModel(&'static str),
    /// The provider wants a key, and nobody said where it is.
    #[error("{0} wants a key: let embeddings.key-env name the variable that holds it")]
    NoKey(&'static str),
    /// The variable is not set.
    #[error("the variable {0}, which embeddings.key-env names, is not set")]
    NotSet(String),
    /// What the variable holds cannot be a key. It is not repeated.
    #[error("what the variable {0} holds is not a key: a key is one line of visible ASCII characters")]
    KeyForm(String),
    /// The address is not one that a key may be sent to.
    #[error(transparent)]
    BaseUrl(#[from] BaseUrlError),
}

/// The stage that the configuration asks for, with its weight; `None` where it is off. Nothing is read or sent yet.
/// `environment` looks up the one variable that the configuration names. Where the configuration lacks something, the
/// stage says so when it is first asked, and words decide alone: no message is refused because of it.
pub fn semantic(embeddings: &Embeddings, environment: impl Fn(&str) -> Option<OsString>) -> Option<Semantic> {
    let weight = WEIGHT * embeddings.weight as f32 / 100.0;
    let embedder = embedder(embeddings, environment).unwrap_or_else(|error| Some(Arc::new(Unable(error))))?;
    Some(Semantic::new(embedder).weighing(weight))
}

/// Stands where no embedder could be made.
#[derive(Debug)]
struct Unable(SetupError);

impl Embedder for Unable {
    fn identity(&self) -> Result<String, EmbedError> {
        Err(EmbedError::Failed(self.0.to_string()))
    }

    fn embed(&self, _: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Failed(self.0.to_string()))
    }
}

/// The embedder that the configuration names; `None` where it is off.
pub fn embedder(
    embeddings: &Embeddings,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<Arc<dyn Embedder>>, SetupError> {
    let (shape, usual) = match embeddings.provider {
        EmbeddingsProvider::Off => return Ok(None),
        EmbeddingsProvider::OpenAi => (Shape::OpenAi, "https://api.openai.com/v1"),
        EmbeddingsProvider::Ollama => (Shape::Ollama, "http://127.0.0.1:11434"),
    };
    let provider = embeddings.provider.as_str();
    let model = embeddings.model.as_deref().ok_or(SetupError::NoModel(provider))?;
    let address =
        BaseUrl::parse("embeddings", embeddings.base_url.as_deref().unwrap_or(usual), embeddings.allow_http)?;
    let key = match &embeddings.key_env {
        Some(name) => {
            let value = environment(name).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| SetupError::NotSet(name.clone()))?;
            Some(value.to_str().and_then(Key::new).ok_or_else(|| SetupError::KeyForm(name.clone()))?)
        }
        // A server of one's own mostly wants none.
        None if embeddings.base_url.is_some() || shape == Shape::Ollama => None,
        None => return Err(SetupError::NoKey(provider)),
    };
    Ok(Some(Arc::new(Endpoint::new(shape, &address, model, key, embeddings.timeout))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(change: impl Fn(&mut Embeddings)) -> Result<Option<Arc<dyn Embedder>>, SetupError> {
        let mut embeddings = Embeddings::default();
        change(&mut embeddings);
        embedder(&embeddings, |name| match name {
            "KEY" => Some("sk-123456".into()),
            "TWO" => Some("sk-\n-SECRET".into()),
            _ => None,
        })
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_do() {
        use EmbeddingsProvider::{Ollama, OpenAi};
        let model = || Some("m".to_owned());
        let cases: [&dyn Fn(&mut Embeddings); 7] = [
            &|e| e.provider = OpenAi,
            &|e| (e.provider, e.model) = (OpenAi, model()),
            &|e| (e.provider, e.model, e.key_env) = (OpenAi, model(), Some("GONE".to_owned())),
            &|e| (e.provider, e.model, e.key_env) = (OpenAi, model(), Some("TWO".to_owned())),
            &|e| (e.provider, e.model, e.base_url) = (Ollama, model(), Some("http://10.0.0.1".to_owned())),
            &|e| (e.provider, e.model, e.base_url) = (Ollama, model(), Some("ftp://x".to_owned())),
            &|e| e.provider = Ollama,
        ];
        let told: Vec<String> =
            cases.iter().map(|case| made(case).expect_err("nothing can be made").to_string()).collect();
        insta::assert_snapshot!(told.join("\n"));
        assert!(!told.join("").contains("SECRET"));
    }

    #[test]
    fn what_is_complete_is_made_and_never_shows_its_key() {
        let ollama = made(|e| (e.provider, e.model) = (EmbeddingsProvider::Ollama, Some("m".to_owned())));
        assert_eq!(ollama.unwrap().unwrap().identity().unwrap(), "ollama http://127.0.0.1:11434/ m");
        let openai = made(|e| {
            (e.provider, e.model, e.key_env) =
                (EmbeddingsProvider::OpenAi, Some("m".to_owned()), Some("KEY".to_owned()));
        });
        let openai = openai.unwrap().unwrap();
        assert!(!format!("{openai:?}").contains("123456"), "{openai:?}");
        assert!(made(|_| ()).unwrap().is_none());
    }
}
