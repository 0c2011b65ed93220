//! Errors of model requests.

use std::time::Duration;

use prowess::ErrorCode;

/// Why a request to a model failed. No message contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The connection failed.
    #[error("cannot connect to the provider: {0}")]
    Connect(String),
    /// A timeout expired.
    #[error("the provider timed out: {0}")]
    Timeout(TimeoutPhase),
    /// The key is wrong, missing or lacks permissions.
    #[error("the provider rejected the API key (status {status}): {message}")]
    KeyRejected {
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        message: String,
    },
    /// The provider is overloaded or limits the rate.
    #[error("the provider is busy (status {status}): {message}")]
    Busy {
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        message: String,
        /// When to retry, if the provider specifies it.
        retry_after: Option<Duration>,
        /// Whether a retry may succeed.
        retryable: bool,
    },
    /// The provider has an internal error.
    #[error("the provider failed (status {status}): {message}")]
    ServerError {
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        message: String,
        /// When to retry, if the provider specifies it.
        retry_after: Option<Duration>,
    },
    /// The provider rejected the request.
    #[error("the provider rejected the request (status {status}): {message}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        message: String,
    },
    /// The model cannot call tools.
    #[error("the model cannot call tools: {0}")]
    NoTools(String),
    /// The conversation exceeds the model's context window.
    #[error("the conversation is too long for the model: {0}")]
    TooLong(String),
    /// The provider redirected the request.
    #[error(
        "the provider redirected the request (status {0}); redirects are not followed; check chat.base-url"
    )]
    Redirect(u16),
    /// The response is not an event stream.
    #[error("the provider returned {0} instead of an event stream; check chat.base-url and chat.provider")]
    NotAStream(String),
    /// The reply ended early.
    #[error("the reply was interrupted: {0}")]
    Interrupted(String),
    /// The response does not follow the provider's API.
    #[error("cannot parse the provider's response: {0}")]
    Malformed(String),
    /// The provider reported an error in the middle of a reply.
    #[error("the provider reported an error: {message}")]
    StreamError {
        /// The provider's message.
        message: String,
        /// Whether a retry may succeed.
        retryable: bool,
    },
}

/// The timeout that expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeoutPhase {
    /// A connection.
    #[error("no connection within {} (chat.connect-timeout-ms)", format_duration(*.0))]
    Connection(Duration),
    /// The first byte of the response.
    #[error("no response within {} (chat.first-byte-timeout-ms)", format_duration(*.0))]
    FirstByte(Duration),
    /// The next byte of the response.
    #[error("no data for {} in the middle of a reply (chat.idle-timeout-ms)", format_duration(*.0))]
    NextByte(Duration),
    /// The end of the response.
    #[error("the reply did not end within {} (chat.request-timeout-ms)", format_duration(*.0))]
    End(Duration),
}

fn format_duration(time: Duration) -> String {
    match time.as_millis() {
        millis if millis >= 1_000 && millis % 1_000 == 0 => format!("{} s", millis / 1_000),
        millis => format!("{millis} ms"),
    }
}

impl ModelError {
    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Connect(_) | Self::Busy { .. } | Self::ServerError { .. } => ErrorCode::Unavailable,
            Self::Timeout(_) => ErrorCode::Timeout,
            Self::KeyRejected { .. } => ErrorCode::AccessDenied,
            Self::Rejected { .. } | Self::NoTools(_) => ErrorCode::ExecutionError,
            Self::TooLong(_) => ErrorCode::TooLarge,
            Self::Redirect(_) | Self::NotAStream(_) => ErrorCode::ExecutionError,
            Self::Interrupted(_) | Self::Malformed(_) | Self::StreamError { .. } => ErrorCode::ExecutionError,
        }
    }

    /// Returns `true` if the same request may succeed on retry.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::Connect(_) | Self::ServerError { .. } | Self::Interrupted(_) => true,
            Self::Timeout(phase) => matches!(phase, TimeoutPhase::Connection(_)),
            Self::Busy { retryable: passing, .. } | Self::StreamError { retryable: passing, .. } => *passing,
            Self::KeyRejected { .. }
            | Self::Rejected { .. }
            | Self::NoTools(_)
            | Self::TooLong(_)
            | Self::Redirect(_)
            | Self::NotAStream(_)
            | Self::Malformed(_) => false,
        }
    }

    /// Applies `change` to the provider's message, if there is one.
    pub(crate) fn map_message(mut self, change: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Connect(text)
            | Self::NoTools(text)
            | Self::TooLong(text)
            | Self::NotAStream(text)
            | Self::Interrupted(text)
            | Self::Malformed(text)
            | Self::KeyRejected { message: text, .. }
            | Self::Busy { message: text, .. }
            | Self::ServerError { message: text, .. }
            | Self::Rejected { message: text, .. }
            | Self::StreamError { message: text, .. } => *text = change(text),
            Self::Timeout(_) | Self::Redirect(_) => {}
        }
        self
    }

    /// Returns when the provider wants a retry.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after: again, .. } | Self::ServerError { retry_after: again, .. } => *again,
            _ => None,
        }
    }
}
