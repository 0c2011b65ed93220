//! The settings of chats: the model, and the limits of a turn. Data only; another crate talks to models.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::chat_store::ChatStore;
use super::model_settings::{ModelOverrides, ModelSettings};

/// The section `[chat]`.
///
/// ```
/// use prowess_config::{ChatProvider, ChatSettings};
///
/// let chat = ChatSettings::default();
/// assert_eq!((chat.provider, chat.limits.steps), (ChatProvider::Rehearsal, 24));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChatSettings {
    /// The API of the model.
    pub provider: ChatProvider,
    /// The provider's name of the model.
    pub model: Option<String>,
    /// The models that skills may choose with `model`: `NAME` or `NAME=MODEL`.
    pub skill_models: Vec<String>,
    /// The base URL of the provider, if not the default.
    pub base_url: Option<String>,
    /// Whether unencrypted connections to other machines are allowed.
    pub allow_http: bool,
    /// The environment variable that holds the API key.
    pub key_env: Option<String>,
    /// The file that holds the API key.
    pub key_file: Option<PathBuf>,
    /// Where chats are stored, if not in the user's state.
    pub store: Option<ChatStore>,
    /// Whether tools are offered to the model.
    pub tools: ToolCalling,
    /// What requests ask of all models.
    pub request: ModelSettings,
    /// What requests ask of single models, by the provider's name of the model.
    pub models: BTreeMap<String, ModelOverrides>,
    /// The limits of a turn.
    pub limits: ChatLimits,
    /// The limits of the files of a chat.
    pub files: ChatFileLimits,
    /// The timeouts for requests to the provider.
    pub timeouts: ChatTimeouts,
}

impl ChatSettings {
    /// Returns what requests ask of the model with this name.
    pub fn settings_of(&self, model: &str) -> ModelSettings {
        match self.models.get(model) {
            Some(overrides) => self.request.with_overrides(overrides),
            None => self.request.clone(),
        }
    }
}

prowess_format::named_enum! {
    /// The API of a model.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ChatProvider {
        /// No model: rehearsal mode shows what a model would receive.
        #[default]
        Rehearsal = "rehearsal",
        /// Anthropic's Messages API.
        Anthropic = "anthropic",
        /// OpenAI's Responses API.
        OpenAi = "openai",
        /// OpenAI's Chat Completions API, which many servers support.
        OpenAiChat = "openai-chat",
    }
}

/// Whether tools are offered to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolCalling {
    /// Tools are not offered.
    Off,
    /// Tools are offered until the server reports that it does not support them.
    #[default]
    Auto,
}

/// The limits of a turn. Reaching one ends the turn with a reason, not with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatLimits {
    /// The maximum number of requests to the model.
    pub steps: u32,
    /// The maximum number of tokens in one response.
    pub output_tokens: u32,
    /// The model's context size in tokens. Older messages are dropped beyond it.
    pub context_tokens: u32,
    /// The maximum number of tokens of all requests and responses in a turn; `None` for no limit.
    pub turn_tokens: Option<u32>,
    /// The maximum size of a tool result that the model is shown, in bytes.
    pub result_bytes: u64,
    /// How often a failed request is retried.
    pub retries: u32,
    /// Whether the model summarizes older messages beyond its context size, before they are dropped.
    pub compact: bool,
}

impl Default for ChatLimits {
    fn default() -> Self {
        Self {
            steps: 24,
            output_tokens: 8_192,
            context_tokens: 128_000,
            turn_tokens: Some(2_000_000),
            result_bytes: 200_000,
            retries: 4,
            compact: true,
        }
    }
}

/// The limits of the workspace of a chat, whose files are kept in the chat store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatFileLimits {
    /// The maximum size of a file, in bytes.
    pub file_bytes: u64,
    /// The maximum size of all files of a chat, in bytes.
    pub workspace_bytes: u64,
    /// The maximum number of files of a chat.
    pub workspace_files: u32,
}

impl ChatFileLimits {
    /// The largest possible size of a file: databases do not store longer values.
    pub const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
    /// The largest possible number of files of a chat.
    pub const WORKSPACE_FILES_MAX: u32 = 10_000;
}

impl Default for ChatFileLimits {
    fn default() -> Self {
        Self { file_bytes: 32 * 1024 * 1024, workspace_bytes: 256 * 1024 * 1024, workspace_files: 500 }
    }
}

/// The timeouts for requests to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatTimeouts {
    /// For establishing a connection.
    pub connect: Duration,
    /// From the request to the first byte of the response, which may include loading the model.
    pub first_byte: Duration,
    /// Between two chunks of a response.
    pub idle: Duration,
    /// For a whole request.
    pub request: Duration,
}

impl Default for ChatTimeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(15), first_byte: seconds(300), idle: seconds(120), request: seconds(1_800) }
    }
}

/// Returns `true` for a valid name of an environment variable. An API key in its place is mostly not valid.
pub(super) fn is_variable_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text.len() <= 128
}

/// Returns `true` for a possible model name.
pub(super) fn is_model_name(text: &str) -> bool {
    (1..=256).contains(&text.len()) && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte))
}

/// Returns `true` for a possible base URL. User and password are not allowed, because settings are printed.
pub(super) fn is_base_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        is_model_name(rest) && !rest.contains(['@', '?', '#', '\\']) && !rest.starts_with('/')
    })
}

/// Returns `true` for the URL of a package index: encrypted, unless it is on this machine.
pub(super) fn is_index_url(text: &str) -> bool {
    crate::BaseUrl::parse("environments", text, false).is_ok()
}
