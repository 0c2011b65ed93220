//! The address and key of the configured provider.

use std::ffi::OsString;
use std::time::Duration;

use prowess_config::{BaseUrl, ChatProvider, ChatSettings};
use reqwest::header::{HeaderMap, HeaderName};
use reqwest::redirect;

use super::secret::Secret;
use super::setup::ModelSetupError;

/// The address of the configured provider and the key for it.
///
/// ```
/// use prowess_chat::provider::ProviderEndpoint;
/// use prowess_config::ChatSettings;
///
/// // Without a provider, there is no address.
/// assert!(ProviderEndpoint::resolve(&ChatSettings::default(), |_| None)?.is_none());
/// # Ok::<(), prowess_chat::provider::ModelSetupError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ProviderEndpoint {
    pub(super) base: BaseUrl,
    pub(super) secret: Option<Secret>,
    provider: ChatProvider,
}

impl ProviderEndpoint {
    /// Returns the endpoint of the configured provider; `None` for the rehearsal. `environment` returns the value of the
    /// variable that the configuration names.
    pub fn resolve(
        chat: &ChatSettings,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Self>, ModelSetupError> {
        let default_url = match chat.provider {
            ChatProvider::Rehearsal => return Ok(None),
            ChatProvider::Anthropic => "https://api.anthropic.com",
            ChatProvider::OpenAi | ChatProvider::OpenAiChat => "https://api.openai.com/v1",
        };
        let base = BaseUrl::parse("chat", chat.base_url.as_deref().unwrap_or(default_url), chat.allow_http)?;
        let secret = match (&chat.key_env, &chat.key_file) {
            (Some(_), Some(_)) => return Err(ModelSetupError::TwoKeys),
            (Some(name), None) => Some(Secret::from_variable(name, environment)?),
            (None, Some(path)) => Some(Secret::from_file(path)?),
            // Self-hosted servers usually need no key.
            (None, None) if chat.base_url.is_some() => None,
            (None, None) => return Err(ModelSetupError::NoKey(chat.provider.as_str())),
        };
        Ok(Some(Self { base, secret, provider: chat.provider }))
    }

    /// Returns the URL of a path of the provider's API, such as `messages` or `chat/completions`.
    pub fn url(&self, path: &str) -> String {
        match self.provider {
            ChatProvider::Anthropic if !self.base.ends_with("v1") => self.base.join(&["v1", path]),
            _ => self.base.join(&[path]),
        }
    }

    /// Returns the provider.
    pub(super) fn provider(&self) -> ChatProvider {
        self.provider
    }

    /// Returns the name of the header for the key, and the prefix of its value.
    pub(super) fn key_header(&self) -> (&'static str, &'static str) {
        match self.provider {
            ChatProvider::Anthropic => ("x-api-key", ""),
            ChatProvider::OpenAi | ChatProvider::OpenAiChat | ChatProvider::Rehearsal => {
                ("authorization", "Bearer ")
            }
        }
    }

    /// Returns the header with the key; empty if there is no key.
    pub fn headers(&self) -> HeaderMap {
        let (name, prefix) = self.key_header();
        let value = self.secret.as_ref().and_then(|secret| secret.header(prefix));
        value.map(|value| (HeaderName::from_static(name), value)).into_iter().collect()
    }

    /// Returns the text without the key.
    pub fn scrub(&self, text: &str) -> String {
        self.secret.as_ref().map_or_else(|| text.to_owned(), |secret| secret.scrub(text))
    }

    /// Creates an HTTP client for this address.
    pub fn client(&self, connect_timeout: Duration) -> Result<reqwest::Client, reqwest::Error> {
        http_client(&self.base, connect_timeout)
    }
}

/// Creates an HTTP client that sends requests to this address. Redirects are not followed, because the key is for this
/// address only.
fn http_client(base: &BaseUrl, connect_timeout: Duration) -> Result<reqwest::Client, reqwest::Error> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have installed a provider first; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let client = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(connect_timeout)
        .user_agent(concat!("prowess/", env!("CARGO_PKG_VERSION")));
    // Local requests must not pass through a proxy.
    let client = if base.is_loopback() { client.no_proxy() } else { client };
    client.build()
}
