//! How turns end: normally, at a limit, by cancellation or with an error.

use prowess::ErrorCode;

use crate::{MessageState, TokenUsage, TurnEvent};

prowess::format::named_enum! {
    /// Why a turn ended without an error.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EndReason {
        /// The model finished its reply.
        Finished = "end",
        /// The model wanted more steps than a turn may have.
        Steps = "steps",
        /// The turn used all its tokens.
        Tokens = "tokens",
        /// The reply was longer than the limit.
        Length = "length",
        /// The model repeated the same call.
        Repeated = "repeated",
        /// The model or its provider refused to continue.
        Declined = "declined",
        /// The turn was cancelled.
        Cancelled = "cancelled",
    }
}

impl EndReason {
    /// Returns what happened, for display, or `None` if the turn finished normally.
    pub fn description(self) -> Option<&'static str> {
        Some(match self {
            Self::Finished => return None,
            Self::Steps => "the turn reached its step limit (chat.max-steps)",
            Self::Tokens => "the turn reached its token limit (chat.max-turn-tokens)",
            Self::Length => "the reply reached its length limit (chat.max-output-tokens)",
            Self::Repeated => "the model repeated the same call with the same result",
            Self::Declined => "the model or its provider declined to continue",
            Self::Cancelled => "the turn was cancelled",
        })
    }
}

/// The outcome of a turn, with its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnOutcome {
    /// The model finished, reached a limit or was stopped.
    Finished {
        /// Why the turn ended.
        end: EndReason,
        /// The token usage.
        usage: Option<TokenUsage>,
    },
    /// The turn failed. Its message is marked as interrupted.
    Failed {
        /// The error code.
        code: ErrorCode,
        /// What happened, for display.
        message: String,
        /// The token usage until then.
        usage: Option<TokenUsage>,
    },
}

impl TurnOutcome {
    /// Creates the outcome of a turn that ended without an error.
    pub fn finished(end: EndReason, usage: Option<TokenUsage>) -> Self {
        Self::Finished { end, usage }
    }

    /// Creates the outcome of a turn that failed.
    pub fn failed(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Failed { code, message: message.into(), usage: None }
    }

    /// Creates the outcome of a turn whose process exited.
    pub fn abandoned() -> Self {
        Self::failed(
            ErrorCode::Unavailable,
            "the process that was replying stopped; this is the reply up to that point",
        )
    }

    /// Returns the token usage.
    pub fn usage(&self) -> Option<TokenUsage> {
        match self {
            Self::Finished { usage, .. } | Self::Failed { usage, .. } => *usage,
        }
    }

    /// Returns the state of the message after the turn.
    pub fn message_state(&self) -> MessageState {
        match self {
            Self::Finished { end, .. } => match end.description() {
                None => MessageState::Complete,
                Some(reason) => MessageState::Interrupted { reason: reason.to_owned() },
            },
            Self::Failed { message, .. } => {
                MessageState::Interrupted { reason: message.replace('\0', "\u{fffd}") }
            }
        }
    }

    /// Returns the last event of the turn.
    pub fn to_event(&self, message_id: &str, activated_skill_names: Vec<String>) -> TurnEvent {
        match self {
            Self::Finished { end, usage } => TurnEvent::Done {
                message_id: message_id.to_owned(),
                reason: end.as_str().to_owned(),
                usage: *usage,
                activated_skill_names,
            },
            Self::Failed { code, message, .. } => {
                TurnEvent::Error { code: code.to_string(), message: message.clone() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outcomes_as_events_and_states() {
        let usage = Some(TokenUsage { input: 10, output: 2, cached: 0, cache_writes: 0 });
        let outcomes = [
            TurnOutcome::finished(EndReason::Steps, usage),
            TurnOutcome::finished(EndReason::Cancelled, usage),
            TurnOutcome::failed(ErrorCode::Timeout, "the model did not answer for 60 s"),
            TurnOutcome::abandoned(),
        ];
        let lines: Vec<_> = outcomes
            .iter()
            .map(|outcome| {
                json!({"event": outcome.to_event("m1", vec!["pdf".into()]), "state": outcome.message_state()})
                    .to_string()
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
