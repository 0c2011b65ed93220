//! From the configuration to a model.

use std::ffi::OsString;
use std::sync::Arc;

use prowess::ErrorCode;
use prowess_config::{BaseUrl, BaseUrlError, Chat, Provider, ToolCalling};
use prowess_tools::Toolbox;

use super::Model;
use super::anthropic::Anthropic;
use super::completions::Completions;
use super::rehearsal::Rehearsal;
use super::remote::Remote;
use super::responses::Responses;
use super::retry::Backoff;
use super::secret::{Secret, SecretError};
use super::streaming::{Http, HttpSetup};

/// Why there is no model. What can be done is part of the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// Nobody said which model.
    #[error("chat.provider is {0}, and chat.model does not say which model")]
    NoModel(&'static str),
    /// The provider wants a key, and nobody said where it is.
    #[error("{0} wants a key: let chat.key-env name the variable or chat.key-file the file that holds it")]
    NoKey(&'static str),
    /// Two places for one key.
    #[error("chat.key-env and chat.key-file are both set; one of them is enough")]
    TwoKeys,
    /// The key cannot be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The address is not one that a key may be sent to.
    #[error(transparent)]
    BaseUrl(#[from] BaseUrlError),
    /// The client cannot be made.
    #[error("no connection can be prepared: {0}")]
    Client(String),
}

impl SetupError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Secret(SecretError::Open { .. } | SecretError::NotYours(_)) => ErrorCode::PermissionDenied,
            Self::Client(_) => ErrorCode::InternalError,
            _ => ErrorCode::InvalidParam,
        }
    }
}

/// The model that the configuration names, or the rehearsal where it names none. Nothing is sent yet. `environment`
/// looks up the one variable that the configuration names.
///
/// ```
/// use std::sync::Arc;
/// use prowess_config::Chat;
/// use prowess::{Policy, Registry};
/// use prowess_chat::provider::connect;
/// use prowess_tools::Toolbox;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Arc::new(Toolbox::new(Arc::new(Registry::open(Policy::default())?)));
/// let model = connect(&Chat::default(), |name| std::env::var_os(name), &toolbox)?;
/// assert_eq!(model.name(), "rehearsal");
/// # Ok(())
/// # }
/// ```
pub fn connect(
    chat: &Chat,
    environment: impl Fn(&str) -> Option<OsString>,
    toolbox: &Arc<Toolbox>,
) -> Result<Arc<dyn Model>, SetupError> {
    connect_with(chat, environment, toolbox, Backoff::default())
}

/// The same with other waits before a request is sent again.
#[doc(hidden)]
pub fn connect_with(
    chat: &Chat,
    environment: impl Fn(&str) -> Option<OsString>,
    toolbox: &Arc<Toolbox>,
    backoff: Backoff,
) -> Result<Arc<dyn Model>, SetupError> {
    let usual = match chat.provider {
        Provider::Rehearsal => return Ok(Arc::new(Rehearsal::new(Arc::clone(toolbox)))),
        Provider::Anthropic => "https://api.anthropic.com",
        Provider::OpenAi | Provider::OpenAiChat => "https://api.openai.com/v1",
    };
    let model = chat.model.clone().ok_or(SetupError::NoModel(chat.provider.as_str()))?;
    let endpoint = BaseUrl::parse("chat", chat.base_url.as_deref().unwrap_or(usual), chat.allow_http)?;
    let secret = match (&chat.key_env, &chat.key_file) {
        (Some(_), Some(_)) => return Err(SetupError::TwoKeys),
        (Some(name), None) => Some(Secret::from_variable(name, environment)?),
        (None, Some(path)) => Some(Secret::from_file(path)?),
        // A server of one's own mostly wants none.
        (None, None) if chat.base_url.is_some() => None,
        (None, None) => return Err(SetupError::NoKey(chat.provider.as_str())),
    };
    let http =
        |path: &[&str], key: (&'static str, &'static str), headers: &[(&'static str, &'static str)]| {
            let setup = HttpSetup {
                endpoint: &endpoint,
                path,
                key: secret.clone().map(|secret| (key.0, key.1, secret)),
                headers,
                timeouts: chat.timeouts,
                retries: chat.limits.retries,
                backoff,
            };
            Http::new(setup).map_err(SetupError::Client)
        };
    let tools = chat.tools == ToolCalling::Auto;
    let bearer = ("authorization", "Bearer ");
    Ok(match chat.provider {
        Provider::Anthropic => {
            let path: &[&str] = if endpoint.ends_with("v1") { &["messages"] } else { &["v1", "messages"] };
            let http = http(path, ("x-api-key", ""), &[("anthropic-version", "2023-06-01")])?;
            Arc::new(Remote { http, model, tools, interface: Anthropic })
        }
        Provider::OpenAi => {
            let http = http(&["responses"], bearer, &[])?;
            Arc::new(Remote { http, model, tools, interface: Responses })
        }
        Provider::OpenAiChat | Provider::Rehearsal => {
            let interface = Completions::new(endpoint.host() == "api.openai.com");
            let http = http(&["chat", "completions"], bearer, &[])?;
            Arc::new(Remote { http, model, tools, interface })
        }
    })
}
