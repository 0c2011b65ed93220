//! Why a model did not answer.

use std::time::Duration;

use prowess::ErrorCode;

/// Why a model did not answer, or not to the end. No message has a key in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There was no connection.
    #[error("the provider cannot be reached: {0}")]
    Connect(String),
    /// It took too long.
    #[error("the provider took too long: {0}")]
    Timeout(Waited),
    /// The key is wrong, missing, or not good for this.
    #[error("the provider does not accept the key (status {status}): {message}")]
    Key {
        /// The status.
        status: u16,
        /// What the provider says.
        message: String,
    },
    /// There is too much to do.
    #[error("the provider turns the request away for now (status {status}): {message}")]
    Busy {
        /// The status.
        status: u16,
        /// What the provider says.
        message: String,
        /// When it wants to be asked again.
        again: Option<Duration>,
        /// Whether it is worth asking again.
        passing: bool,
    },
    /// Something is out of order over there.
    #[error("the provider is out of order (status {status}): {message}")]
    OutOfOrder {
        /// The status.
        status: u16,
        /// What the provider says.
        message: String,
        /// When it wants to be asked again.
        again: Option<Duration>,
    },
    /// It does not want this request.
    #[error("the provider refuses the request (status {status}): {message}")]
    Refused {
        /// The status.
        status: u16,
        /// What the provider says.
        message: String,
    },
    /// The model cannot call tools.
    #[error("the model cannot call tools: {0}")]
    NoTools(String),
    /// The conversation is longer than the model takes.
    #[error("the conversation is longer than the model takes: {0}")]
    TooLong(String),
    /// It wants the request to be sent elsewhere.
    #[error("the provider redirects the request (status {0}), which is not followed; check chat.base-url")]
    Redirect(u16),
    /// What came is no stream of events.
    #[error(
        "the provider answered with {0} instead of a stream of events; check chat.base-url and chat.provider"
    )]
    NotAStream(String),
    /// The answer broke off.
    #[error("the answer broke off: {0}")]
    BrokeOff(String),
    /// What came is not what the interface promises.
    #[error("the provider's answer cannot be read: {0}")]
    Malformed(String),
    /// The provider said in the middle of an answer that something went wrong.
    #[error("the provider reports an error: {message}")]
    Reported {
        /// What it says.
        message: String,
        /// Whether it is worth asking again.
        passing: bool,
    },
}

/// What was waited for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Waited {
    /// A connection.
    #[error("no connection within {} (chat.connect-timeout-ms)", spoken(*.0))]
    Connection(Duration),
    /// The first byte.
    #[error("no answer within {} (chat.first-byte-timeout-ms)", spoken(*.0))]
    FirstByte(Duration),
    /// The next byte.
    #[error("nothing more for {} in the middle of an answer (chat.idle-timeout-ms)", spoken(*.0))]
    NextByte(Duration),
    /// The end.
    #[error("no end of the answer within {} (chat.request-timeout-ms)", spoken(*.0))]
    End(Duration),
}

fn spoken(time: Duration) -> String {
    match time.as_millis() {
        whole if whole >= 1_000 && whole % 1_000 == 0 => format!("{} s", whole / 1_000),
        millis => format!("{millis} ms"),
    }
}

impl ModelError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Connect(_) | Self::Busy { .. } | Self::OutOfOrder { .. } => ErrorCode::Unavailable,
            Self::Timeout(_) => ErrorCode::Timeout,
            Self::Key { .. } => ErrorCode::AccessDenied,
            Self::Refused { .. } | Self::NoTools(_) => ErrorCode::ExecutionError,
            Self::TooLong(_) => ErrorCode::TooLarge,
            Self::Redirect(_) | Self::NotAStream(_) => ErrorCode::ExecutionError,
            Self::BrokeOff(_) | Self::Malformed(_) | Self::Reported { .. } => ErrorCode::ExecutionError,
        }
    }

    /// Whether the same request may well be answered a little later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Connect(_) | Self::OutOfOrder { .. } | Self::BrokeOff(_) => true,
            Self::Timeout(waited) => matches!(waited, Waited::Connection(_)),
            Self::Busy { passing, .. } | Self::Reported { passing, .. } => *passing,
            Self::Key { .. }
            | Self::Refused { .. }
            | Self::NoTools(_)
            | Self::TooLong(_)
            | Self::Redirect(_)
            | Self::NotAStream(_)
            | Self::Malformed(_) => false,
        }
    }

    /// The same with the provider's words changed.
    pub(crate) fn reworded(mut self, change: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Connect(words)
            | Self::NoTools(words)
            | Self::TooLong(words)
            | Self::NotAStream(words)
            | Self::BrokeOff(words)
            | Self::Malformed(words)
            | Self::Key { message: words, .. }
            | Self::Busy { message: words, .. }
            | Self::OutOfOrder { message: words, .. }
            | Self::Refused { message: words, .. }
            | Self::Reported { message: words, .. } => *words = change(words),
            Self::Timeout(_) | Self::Redirect(_) => {}
        }
        self
    }

    /// When the provider wants to be asked again.
    pub(crate) fn again(&self) -> Option<Duration> {
        match self {
            Self::Busy { again, .. } | Self::OutOfOrder { again, .. } => *again,
            _ => None,
        }
    }
}
