//! One answer of a model: how it is begun, what happens in it, how it ends, and what becomes of it as a message.

use prowess::ErrorCode;
use serde::{Deserialize, Serialize};

use crate::{Event, Part, State, Usage};

/// An answer that is being written by this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The chat.
    pub chat: String,
    /// The message that it becomes.
    pub message: String,
    /// The number of its first event.
    pub first: u64,
}

/// An event with its number, which is one higher than that of the event before it in the same chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbered {
    /// The number.
    pub seq: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// Events of a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct Events {
    /// In order, without holes.
    pub events: Vec<Numbered>,
    /// Some that were asked for are not kept any more: the chat has to be read anew.
    pub missed: bool,
    /// The number of the last event of the chat, which may be beyond these.
    pub last: u64,
}

/// How a turn ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The model has said what it had to say, or came to a bound that was set for it.
    Finished {
        /// `end`, `steps` or `tokens`.
        reason: String,
        /// What it cost.
        usage: Option<Usage>,
    },
    /// A person stopped it. The message has a marker.
    Cancelled {
        /// What it cost until then.
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
    /// The usual end.
    pub fn finished(reason: impl Into<String>, usage: Option<Usage>) -> Self {
        Self::Finished { reason: reason.into(), usage }
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
            Self::Finished { usage, .. } | Self::Cancelled { usage } | Self::Broken { usage, .. } => *usage,
        }
    }

    /// What is said of the message from then on.
    pub fn state(&self) -> State {
        match self {
            Self::Finished { .. } => State::Complete,
            Self::Cancelled { .. } => State::Interrupted { reason: "cancelled".to_owned() },
            Self::Broken { message, .. } => State::Interrupted { reason: message.replace('\0', "\u{fffd}") },
        }
    }

    /// The last event of the turn.
    pub fn event(&self, message_id: &str, activated_skill_names: Vec<String>) -> Event {
        let message_id = message_id.to_owned();
        match self {
            Self::Finished { reason, usage } => {
                Event::Done { message_id, reason: reason.clone(), usage: *usage, activated_skill_names }
            }
            Self::Cancelled { usage } => Event::Done {
                message_id,
                reason: "cancelled".to_owned(),
                usage: *usage,
                activated_skill_names,
            },
            Self::Broken { code, message, .. } => {
                Event::Error { code: code.to_string(), message: message.clone() }
            }
        }
    }
}

/// What a message is made of, from what happened in its turn: words that follow each other are one part.
pub(crate) fn parts(events: impl IntoIterator<Item = Event>) -> Vec<Part> {
    let mut parts = Vec::new();
    for event in events {
        match event {
            Event::Delta { text: more } => match parts.last_mut() {
                Some(Part::Text { text }) => text.push_str(&more),
                _ if more.is_empty() => {}
                _ => parts.push(Part::Text { text: more }),
            },
            Event::ToolCall { id, name, arguments } => parts.push(Part::ToolCall { id, name, arguments }),
            Event::ToolResult { id, name, status, data } => {
                parts.push(Part::ToolResult { id, name, summary: data, status });
            }
            Event::Done { .. } | Event::Error { .. } => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(text: &str) -> Event {
        Event::Delta { text: text.to_owned() }
    }

    #[test]
    fn words_that_follow_each_other_are_one_part() {
        let call = Event::ToolCall {
            id: "1".into(),
            name: "skills.search".into(),
            arguments: json!({"query": "x"}),
        };
        let answer = Event::ToolResult {
            id: "1".into(),
            name: "skills.search".into(),
            status: "success".into(),
            data: json!({"matches": []}),
        };
        let end = Ending::finished("end", None).event("m", vec![]);
        let parts = parts([said(""), said("a"), said("b"), call, answer, said(""), said("c"), end]);
        assert_eq!(
            parts,
            [
                Part::Text { text: "ab".into() },
                Part::ToolCall {
                    id: "1".into(),
                    name: "skills.search".into(),
                    arguments: json!({"query": "x"})
                },
                Part::ToolResult {
                    id: "1".into(),
                    name: "skills.search".into(),
                    summary: json!({"matches": []}),
                    status: "success".into()
                },
                Part::Text { text: "c".into() },
            ]
        );
    }

    #[test]
    fn how_endings_are_told() {
        let usage = Some(Usage { input: 10, output: 2, cached: 0 });
        let endings = [
            Ending::finished("steps", usage),
            Ending::Cancelled { usage },
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
