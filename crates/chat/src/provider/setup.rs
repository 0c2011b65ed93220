//! Creates a model from the configuration.

use std::ffi::OsString;
use std::sync::Arc;

use prowess::ErrorCode;
use prowess_config::{ChatProvider, ChatSettings, ParseBaseUrlError, ToolCalling};
use prowess_tools::Toolbox;

use super::Model;
use super::anthropic::Anthropic;
use super::completions::ChatCompletions;
use super::endpoint::ProviderEndpoint;
use super::rehearsal::Rehearsal;
use super::remote::{RemoteModel, RequestSettings};
use super::responses::Responses;
use super::retry::Backoff;
use super::secret::SecretError;
use super::streaming::{ProviderClient, ProviderClientOptions};

/// Why no model can be created. The message includes a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelSetupError {
    /// The model is not configured.
    #[error("chat.provider is {0}, but chat.model is not set")]
    NoModel(&'static str),
    /// The provider requires a key, and none is configured.
    #[error(
        "{0} requires an API key; set chat.key-env to a variable or chat.key-file to a file that contains it"
    )]
    NoKey(&'static str),
    /// Two sources of the key are configured.
    #[error("chat.key-env and chat.key-file are both set; remove one of them")]
    TwoKeys,
    /// The key cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A key may not be sent to the address.
    #[error(transparent)]
    BaseUrl(#[from] ParseBaseUrlError),
    /// The HTTP client cannot be created.
    #[error("cannot create the HTTP client: {0}")]
    Client(String),
}

impl ModelSetupError {
    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Secret(SecretError::TooPermissive { .. } | SecretError::NotOwned(_)) => {
                ErrorCode::PermissionDenied
            }
            Self::Client(_) => ErrorCode::InternalError,
            _ => ErrorCode::InvalidParam,
        }
    }
}

/// Creates the configured model, or the rehearsal if none is configured. Sends nothing yet. `environment` returns the
/// value of the variable that the configuration names.
///
/// ```
/// use std::sync::Arc;
/// use prowess_config::ChatSettings;
/// use prowess::{Policy, Registry};
/// use prowess_chat::provider::connect;
/// use prowess_tools::Toolbox;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Arc::new(Toolbox::new(Arc::new(Registry::open(Policy::default())?)));
/// let model = connect(&ChatSettings::default(), |name| std::env::var_os(name), &toolbox)?;
/// assert_eq!(model.name(), "rehearsal");
/// # Ok(())
/// # }
/// ```
pub fn connect(
    chat: &ChatSettings,
    environment: impl Fn(&str) -> Option<OsString>,
    toolbox: &Arc<Toolbox>,
) -> Result<Arc<dyn Model>, ModelSetupError> {
    connect_with(chat, environment, toolbox, Backoff::default())
}

/// [`connect`] with a custom [`Backoff`].
#[doc(hidden)]
pub fn connect_with(
    chat: &ChatSettings,
    environment: impl Fn(&str) -> Option<OsString>,
    toolbox: &Arc<Toolbox>,
    backoff: Backoff,
) -> Result<Arc<dyn Model>, ModelSetupError> {
    let rehearsal = || Arc::new(Rehearsal::new(Arc::clone(toolbox)));
    if chat.provider == ChatProvider::Rehearsal {
        return Ok(rehearsal());
    }
    let model = chat.model.clone().ok_or(ModelSetupError::NoModel(chat.provider.as_str()))?;
    let Some(endpoint) = ProviderEndpoint::resolve(chat, environment)? else { return Ok(rehearsal()) };
    let http = |path: &str, headers: &[(&'static str, &'static str)]| {
        let setup = ProviderClientOptions {
            endpoint: &endpoint,
            path,
            headers,
            timeouts: chat.timeouts,
            retries: chat.limits.retries,
            backoff,
        };
        ProviderClient::new(setup).map_err(ModelSetupError::Client)
    };
    let tools = chat.tools == ToolCalling::Auto;
    let settings = RequestSettings { all: chat.request.clone(), models: chat.models.clone() };
    Ok(match chat.provider {
        ChatProvider::Anthropic => {
            let http = http("messages", &[("anthropic-version", "2023-06-01")])?;
            Arc::new(RemoteModel { http, model, tools, settings, api: Anthropic::default() })
        }
        ChatProvider::OpenAi => {
            let (http, api) = (http("responses", &[])?, Responses::default());
            Arc::new(RemoteModel { http, model, tools, settings, api })
        }
        ChatProvider::OpenAiChat | ChatProvider::Rehearsal => {
            let api = ChatCompletions::new(endpoint.base.host() == "api.openai.com");
            Arc::new(RemoteModel { http: http("chat/completions", &[])?, model, tools, settings, api })
        }
    })
}
