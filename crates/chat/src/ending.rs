//! How turns end: by themselves, at a bound, by somebody's wish, or broken off.

use prowess::ErrorCode;

use crate::{Event, State, Usage};

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

    /// The name used in JSON.
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

/// An end, with what it cost until then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The model has said what it had to say, came to a bound that was set for it, or was stopped.
    Finished {
        /// Which.
        end: End,
        /// What it cost.
        usage: Option<Usage>,
    },
    /// It broke off. The message has a marker.
    Broken {
        /// What kind of failure.
        code: ErrorCode,
        /// What happened, for people.
        message: String,
        /// What it cost until then.
        usage: Option<Usage>,
    },
}

impl Ending {
    /// An end that has a name.
    pub fn finished(end: End, usage: Option<Usage>) -> Self {
        Self::Finished { end, usage }
    }

    /// It broke off.
    pub fn broken(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Broken { code, message: message.into(), usage: None }
    }

    /// That of a turn whose process is gone.
    pub fn abandoned() -> Self {
        Self::broken(
            ErrorCode::Unavailable,
            "the program that was answering stopped; this is what it said until then",
        )
    }

    /// What it cost.
    pub fn usage(&self) -> Option<Usage> {
        match self {
            Self::Finished { usage, .. } | Self::Broken { usage, .. } => *usage,
        }
    }

    /// What is said of the message from then on.
    pub fn state(&self) -> State {
        match self {
            Self::Finished { end, .. } => match end.about() {
                None => State::Complete,
                Some(reason) => State::Interrupted { reason: reason.to_owned() },
            },
            Self::Broken { message, .. } => State::Interrupted { reason: message.replace('\0', "\u{fffd}") },
        }
    }

    /// The last event of the turn.
    pub fn event(&self, message_id: &str, activated_skill_names: Vec<String>) -> Event {
        match self {
            Self::Finished { end, usage } => Event::Done {
                message_id: message_id.to_owned(),
                reason: end.as_str().to_owned(),
                usage: *usage,
                activated_skill_names,
            },
            Self::Broken { code, message, .. } => {
                Event::Error { code: code.to_string(), message: message.clone() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn how_endings_are_told() {
        let usage = Some(Usage { input: 10, output: 2, cached: 0 });
        let endings = [
            Ending::finished(End::Steps, usage),
            Ending::finished(End::Cancelled, usage),
            Ending::broken(ErrorCode::Timeout, "the model did not answer for 60 s"),
            Ending::abandoned(),
        ];
        let told: Vec<_> = endings
            .iter()
            .map(|ending| {
                json!({"event": ending.event("m1", vec!["pdf".into()]), "state": ending.state()}).to_string()
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
