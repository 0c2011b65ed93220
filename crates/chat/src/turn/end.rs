//! The result of a turn.

use prowess::ErrorCode;

use super::MESSAGE_MAX;
use super::record::RecordError;
use crate::message::TokenUsage;
use crate::outcome::EndReason;
use crate::provider::ModelError;

/// Why a turn failed. The text so far is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The message is empty.
    #[error("the message is empty")]
    Empty,
    /// The message is too long.
    #[error("the message has {0} bytes; the maximum is {MESSAGE_MAX}")]
    TooLong(usize),
    /// The model request failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The turn cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The files of the chat cannot be listed.
    #[error("{1}")]
    Workspace(ErrorCode, String),
    /// An internal error.
    #[error("{0}")]
    Internal(String),
}

impl TurnError {
    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Empty => ErrorCode::InvalidParam,
            Self::TooLong(_) => ErrorCode::TooLarge,
            Self::Model(error) => error.code(),
            Self::Record(error) => error.code,
            Self::Workspace(code, _) => *code,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }
}

/// The result of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// The model's message; `None` if the turn was not started.
    pub message_id: Option<String>,
    /// How the turn ended.
    pub end: Result<EndReason, TurnError>,
    /// The token usage, if the provider reports it.
    pub usage: Option<TokenUsage>,
    /// The active skills.
    pub activated: Vec<String>,
}
