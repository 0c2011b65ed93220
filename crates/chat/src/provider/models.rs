//! Asks a provider for the names of its models, which also shows whether its address and key work.

use std::time::Duration;

use prowess_config::ChatProvider;
use reqwest::StatusCode;
use serde::Deserialize;

use super::endpoint::ProviderEndpoint;

/// The maximum size of an answer, in bytes.
const ANSWER_MAX: usize = 4 * 1024 * 1024;

/// The maximum number of names.
const NAMES_MAX: usize = 1_000;

/// The maximum length of a name, in characters.
const NAME_CHARS_MAX: usize = 200;

/// Why the models of a provider cannot be listed. No message contains the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListModelsError {
    /// Nothing answers at the address.
    #[error("nothing answers at {address}: {reason}")]
    Unreachable {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The provider does not accept the key.
    #[error("the provider does not accept the key (HTTP {0})")]
    Key(u16),
    /// The address is not that of a provider.
    #[error("{0} does not list models; check the address")]
    NotFound(String),
    /// The provider failed.
    #[error("the provider answered with HTTP {0}")]
    Status(u16),
    /// The answer is not a list of models.
    #[error("the answer of {0} is not a list of models; check the address")]
    Invalid(String),
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ModelEntry>,
}

#[derive(Deserialize)]
struct ModelEntry {
    id: String,
}

impl ProviderEndpoint {
    /// Returns the names of the provider's models, sorted. Nothing is generated, so the request costs nothing.
    pub async fn list_models(&self, timeout: Duration) -> Result<Vec<String>, ListModelsError> {
        let address = self.url("models");
        let unreachable = |error: reqwest::Error| ListModelsError::Unreachable {
            address: self.scrub(&self.url("")),
            reason: self.scrub(&reason(&error)),
        };
        let client = self.client(timeout).map_err(unreachable)?;
        let mut request = client.get(&address).headers(self.headers()).timeout(timeout);
        if self.provider() == ChatProvider::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        let mut response = request.send().await.map_err(unreachable)?;
        let shown = self.scrub(&address);
        match response.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(ListModelsError::Key(response.status().as_u16()));
            }
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                return Err(ListModelsError::NotFound(shown));
            }
            status if !status.is_success() => return Err(ListModelsError::Status(status.as_u16())),
            _ => {}
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > ANSWER_MAX {
                return Err(ListModelsError::Invalid(shown));
            }
            body.extend_from_slice(&chunk);
        }
        let list: ModelList = serde_json::from_slice(&body).map_err(|_| ListModelsError::Invalid(shown))?;
        let is_name = |name: &String| {
            !name.is_empty() && name.chars().count() <= NAME_CHARS_MAX && !name.chars().any(char::is_control)
        };
        let mut names: Vec<String> = list.data.into_iter().map(|model| model.id).filter(is_name).collect();
        names.sort();
        names.dedup();
        names.truncate(NAMES_MAX);
        Ok(names)
    }
}

/// Returns the innermost cause, which is the most precise.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
