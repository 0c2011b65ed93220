//! How turns end.

use prowess::ErrorCode;

use super::MESSAGE_MAX;
use super::record::RecordError;
use crate::message::Usage;
use crate::provider::ModelError;

/// How a turn ended that was not broken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model has said what it wanted to.
    Finished,
    /// The model asked for more steps than a turn may have.
    Steps,
    /// The turn has cost as many tokens as it may.
    Tokens,
    /// The answer was longer than it may be.
    Length,
    /// The model made the same call over and over.
    Repeated,
    /// The model or its provider declined to go on.
    Declined,
    /// Somebody ended it.
    Cancelled,
}

impl End {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Finished,
        Self::Steps,
        Self::Tokens,
        Self::Length,
        Self::Repeated,
        Self::Declined,
        Self::Cancelled,
    ];

    /// The word that stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "end",
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::Length => "length",
            Self::Repeated => "repeated",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
        }
    }

    /// What happened, for people; `None` where all is well.
    pub fn about(self) -> Option<&'static str> {
        Some(match self {
            Self::Finished => return None,
            Self::Steps => "the turn has as many steps as it may have (chat.max-steps)",
            Self::Tokens => "the turn has cost as many tokens as it may (chat.max-turn-tokens)",
            Self::Length => "the answer is as long as it may be (chat.max-output-tokens)",
            Self::Repeated => "the model made the same call over and over, with the same result",
            Self::Declined => "the model or its provider declined to go on",
            Self::Cancelled => "the turn was cancelled",
        })
    }
}

/// Why a turn broke off. What was said so far is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// There is nothing in the message.
    #[error("the message is empty")]
    Empty,
    /// The message is too long.
    #[error("the message has {0} bytes; at most {MESSAGE_MAX} are taken")]
    Long(usize),
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// It cannot be written down.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Something that should have worked did not.
    #[error("{0}")]
    Internal(String),
}

impl TurnError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Empty => ErrorCode::InvalidParam,
            Self::Long(_) => ErrorCode::TooLarge,
            Self::Model(error) => error.code(),
            Self::Record(error) => error.code,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The model's message; `None` where it was never begun.
    pub message_id: Option<String>,
    /// How it ended.
    pub end: Result<End, TurnError>,
    /// What it cost, where the provider said so.
    pub usage: Option<Usage>,
    /// The skills that are active now.
    pub activated: Vec<String>,
}
