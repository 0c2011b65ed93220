//! How turns end.

use prowess::ErrorCode;

use super::MESSAGE_MAX;
use super::record::RecordError;
use crate::ending::End;
use crate::message::Usage;
use crate::provider::ModelError;

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
