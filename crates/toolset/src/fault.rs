//! What a program did instead of what it was asked. Each is the rest of a sentence that begins with its file.

use std::time::Duration;

use prowess::ErrorCode;

use prowess_sandbox::Limit;

/// The version of the protocol that programs are spoken to in.
pub const PROTOCOL: u64 = 1;

/// What a program did instead of answering.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It ended.
    #[error("ended ({how}) instead of answering{}", words(.said))]
    Ended {
        /// How.
        how: String,
        /// The last that it wrote to standard error.
        said: String,
    },
    /// It could not even be started inside.
    #[error("did not start: {0}")]
    NotStarted(String),
    /// It did not tell its tools in time.
    #[error("did not list its tools within {} s and was stopped{}", .limit.as_secs_f64(), words(.said))]
    NoTools {
        /// What it had.
        limit: Duration,
        /// The last that it wrote to standard error.
        said: String,
    },
    /// It did not answer in time.
    #[error("did not answer within {} s and was stopped", .limit.as_secs_f64())]
    NoAnswer {
        /// What it had.
        limit: Duration,
    },
    /// It wrote something that is no message.
    #[error("wrote {0}")]
    NoMessage(String),
    /// It speaks another protocol.
    #[error("speaks version {0} of the protocol; this Prowess speaks version {version}", version = PROTOCOL)]
    Version(u64),
    /// It spoke without being asked.
    #[error("wrote a message of type {0} without being asked")]
    Unasked(&'static str),
    /// It answered another call than the one that it was asked.
    #[error("answered call {answered} when it was asked call {asked}")]
    OtherCall {
        /// What it said.
        answered: u64,
        /// What it was asked.
        asked: u64,
    },
    /// It answered a call once more.
    #[error("answered call {0} twice")]
    Twice(u64),
    /// A line that does not end.
    #[error("wrote a line of more than {0} bytes and was stopped")]
    Line(usize),
    /// Too much before one answer was complete.
    #[error("wrote more than {0} bytes for one answer and was stopped")]
    Answer(usize),
    /// Too much in all.
    #[error("has written more than {0} bytes in all and was stopped")]
    Total(u64),
    /// Too much on the side.
    #[error("wrote more than {0} bytes to standard error and was stopped")]
    StandardError(u64),
    /// A limit of the sandbox that is kept by watching.
    #[error("was stopped at the limit of {0}")]
    Limit(Limit),
    /// Tools that cannot be offered.
    #[error("{0}")]
    Tools(String),
    /// It failed so often that it is not started again for a while.
    #[error("failed {times} times in a row and is left alone for {} s; last, it {last}", .pause.as_secs_f64())]
    LeftAlone {
        /// How often.
        times: u32,
        /// What it did last.
        last: Box<Fault>,
        /// For how long.
        pause: Duration,
    },
}

impl Fault {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoTools { .. } | Self::NoAnswer { .. } => ErrorCode::Timeout,
            Self::LeftAlone { .. } => ErrorCode::Unavailable,
            _ => ErrorCode::ExecutionError,
        }
    }

    /// The limit that it ran into, as the log has it.
    pub(super) fn limit(&self) -> Option<Limit> {
        match self {
            Self::NoTools { .. } | Self::NoAnswer { .. } => Some(Limit::Time),
            Self::Line(_) | Self::Answer(_) | Self::Total(_) | Self::StandardError(_) => Some(Limit::Output),
            Self::Limit(limit) => Some(*limit),
            _ => None,
        }
    }
}

fn words(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; its last words: {said}") }
}
