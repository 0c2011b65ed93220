//! Which model a chat talks to, and how much a turn may take. Data only: whoever talks to models is another crate.

use std::path::PathBuf;
use std::time::Duration;

use super::place::ChatStore;

/// What `[chat]` says.
///
/// ```
/// use prowess_config::{Chat, Provider};
///
/// let chat = Chat::default();
/// assert_eq!((chat.provider, chat.limits.steps), (Provider::Rehearsal, 24));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chat {
    /// Whose interface the model is behind.
    pub provider: Provider,
    /// The model, as the provider calls it.
    pub model: Option<String>,
    /// Where the provider is, if not at its usual place.
    pub base_url: Option<String>,
    /// Whether a server elsewhere may be talked to without encryption.
    pub allow_http: bool,
    /// The variable that holds the key.
    pub key_env: Option<String>,
    /// The file that holds the key.
    pub key_file: Option<PathBuf>,
    /// Where chats are kept, if not in the user's state.
    pub store: Option<ChatStore>,
    /// Whether the model is offered tools.
    pub tools: ToolCalling,
    /// How much a turn may take.
    pub limits: ChatLimits,
    /// How long a provider is waited for.
    pub timeouts: ChatTimeouts,
}

/// Whose interface a model is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Provider {
    /// No model at all: Prowess shows what one would have been given.
    #[default]
    Rehearsal,
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    OpenAi,
    /// OpenAI's Chat Completions, which many servers speak.
    OpenAiChat,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rehearsal, Self::Anthropic, Self::OpenAi, Self::OpenAiChat];

    /// The word that stands in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rehearsal => "rehearsal",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
        }
    }
}

/// Whether a model is offered tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolCalling {
    /// It cannot call any.
    Off,
    /// It is, until its server says that it cannot call them.
    #[default]
    Auto,
}

/// How much a turn may take. Each is an end with a name, not a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatLimits {
    /// The most requests to the model.
    pub steps: u32,
    /// The most tokens of one answer.
    pub output_tokens: u32,
    /// How many tokens the model takes in all: more than that, and what is oldest is left out.
    pub context_tokens: u32,
    /// The most tokens of all requests and answers of a turn; `None` for no bound.
    pub turn_tokens: Option<u32>,
    /// How much of one tool's result the model is shown, in bytes.
    pub result_bytes: u64,
    /// How often a request is sent again.
    pub retries: u32,
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
        }
    }
}

/// How long a provider is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatTimeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the request to the first byte of the answer: a server may have to load its model first.
    pub first_byte: Duration,
    /// While nothing comes.
    pub idle: Duration,
    /// For one request in all.
    pub request: Duration,
}

impl Default for ChatTimeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(15), first_byte: seconds(300), idle: seconds(120), request: seconds(1_800) }
    }
}

/// Whether a text is the name of a variable. A key that was written in its place mostly is not.
pub(super) fn is_variable(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text.len() <= 128
}

/// Whether a text can be the name of a model.
pub(super) fn is_model(text: &str) -> bool {
    (1..=256).contains(&text.len()) && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte))
}

/// Whether a text can be where a provider is. A user and a password do not stand there: settings are printed.
pub(super) fn is_base_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| is_model(rest) && !rest.contains(['@', '?', '#', '\\']) && !rest.starts_with('/'))
}
