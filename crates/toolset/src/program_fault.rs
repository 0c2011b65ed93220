//! Faults of programs. Each message is the rest of a sentence that starts with the file.

use std::time::Duration;

use prowess::ErrorCode;

use prowess_sandbox::RunLimit;

/// The version of the protocol with programs.
pub const PROTOCOL_VERSION: u64 = 1;

/// What a program did instead of answering.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramFault {
    /// It exited.
    #[error("exited ({status}) without answering{}", stderr_suffix(.last_stderr))]
    Exited {
        /// How it exited.
        status: String,
        /// The last line it wrote to standard error.
        last_stderr: String,
    },
    /// It could not be started in the sandbox.
    #[error("did not start: {0}")]
    NotStarted(String),
    /// It did not list its tools in time.
    #[error("did not list its tools within {} s and was stopped{}", .limit.as_secs_f64(), stderr_suffix(.last_stderr))]
    NoTools {
        /// The limit.
        limit: Duration,
        /// The last line it wrote to standard error.
        last_stderr: String,
    },
    /// It did not answer in time.
    #[error("did not answer within {} s and was stopped", .limit.as_secs_f64())]
    NoAnswer {
        /// The limit.
        limit: Duration,
    },
    /// It wrote an invalid message.
    #[error("wrote {0}")]
    InvalidMessage(String),
    /// It uses another version of the protocol.
    #[error("uses protocol version {0}; this version of Prowess supports version {version}", version = PROTOCOL_VERSION)]
    Version(u64),
    /// It wrote a message without being asked.
    #[error("wrote a message of type {0} without being asked")]
    Unsolicited(&'static str),
    /// It answered another call.
    #[error("answered call {answered} instead of call {expected}")]
    WrongCall {
        /// The id in the answer.
        answered: u64,
        /// The id of the call.
        expected: u64,
    },
    /// It answered a call twice.
    #[error("answered call {0} twice")]
    DuplicateAnswer(u64),
    /// It wrote a line that is too long.
    #[error("wrote a line of more than {0} bytes and was stopped")]
    LineTooLong(usize),
    /// It wrote too much for one answer.
    #[error("wrote more than {0} bytes for one answer and was stopped")]
    AnswerTooLong(usize),
    /// It wrote too much in total.
    #[error("wrote more than {0} bytes in total and was stopped")]
    OutputTooLong(u64),
    /// It wrote too much to standard error.
    #[error("wrote more than {0} bytes to standard error and was stopped")]
    StderrTooLong(u64),
    /// It exceeded a limit of the sandbox.
    #[error("was stopped at the limit of {0}")]
    Limit(RunLimit),
    /// Its list of tools is invalid.
    #[error("{0}")]
    InvalidTools(String),
    /// It failed repeatedly and is not started for a while.
    #[error("failed {times} times in a row and is suspended for {} s; last failure: it {last}", .pause.as_secs_f64())]
    Suspended {
        /// The number of failures.
        times: u32,
        /// The last failure.
        last: Box<ProgramFault>,
        /// The duration.
        pause: Duration,
    },
}

impl ProgramFault {
    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoTools { .. } | Self::NoAnswer { .. } => ErrorCode::Timeout,
            Self::Suspended { .. } => ErrorCode::Unavailable,
            _ => ErrorCode::ExecutionError,
        }
    }

    /// Returns the limit that it exceeded, for the log.
    pub(super) fn limit(&self) -> Option<RunLimit> {
        match self {
            Self::NoTools { .. } | Self::NoAnswer { .. } => Some(RunLimit::Time),
            Self::LineTooLong(_)
            | Self::AnswerTooLong(_)
            | Self::OutputTooLong(_)
            | Self::StderrTooLong(_) => Some(RunLimit::Output),
            Self::Limit(limit) => Some(*limit),
            _ => None,
        }
    }
}

fn stderr_suffix(last_stderr: &str) -> String {
    if last_stderr.is_empty() { String::new() } else { format!("; last error output: {last_stderr}") }
}
