//! Turns in a store and their events.

use serde::{Deserialize, Serialize};

use crate::message::push_part;
use crate::{Part, TurnEvent};

/// A reply that this process is writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTurn {
    /// The id of the chat.
    pub chat: String,
    /// The id of the message.
    pub message: String,
    /// The number of the first event.
    pub first: u64,
}

/// An event with its number. Numbers increase by one within a chat, except before an end that another process gave a
/// turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberedEvent {
    /// The number.
    pub seq: u64,
    /// The event.
    #[serde(flatten)]
    pub event: TurnEvent,
}

impl NumberedEvent {
    /// [`TurnEvent::without_seal`].
    #[must_use]
    pub fn without_seal(self) -> Self {
        Self { seq: self.seq, event: self.event.without_seal() }
    }
}

/// A list of events of a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// The events in order, without gaps.
    pub events: Vec<NumberedEvent>,
    /// Some of the requested events are no longer stored: read the chat again.
    pub missed: bool,
    /// The number of the last event of the chat, which may be after these.
    pub last: u64,
}

/// Builds the parts of a message from the events of its turn. Consecutive texts become one part.
pub(crate) fn to_parts(events: impl IntoIterator<Item = TurnEvent>) -> Vec<Part> {
    let mut parts = Vec::new();
    for event in events {
        match event {
            TurnEvent::Delta { text } => push_part(&mut parts, Part::Text { text }),
            TurnEvent::Thinking { text, seal } => push_part(&mut parts, Part::Thinking { text, seal }),
            TurnEvent::Summary { text, replaces } => parts.push(Part::Summary { text, replaces }),
            TurnEvent::ToolCall { id, name, arguments } => parts.push(Part::ToolCall { id, name, arguments }),
            TurnEvent::ToolResult { id, name, status, data } => {
                parts.push(Part::ToolResult { id, name, summary: data, status });
            }
            TurnEvent::Waiting { .. }
            | TurnEvent::ToolsDisabled { .. }
            | TurnEvent::Consent { .. }
            | TurnEvent::Done { .. }
            | TurnEvent::Error { .. } => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EndReason, TurnOutcome};
    use serde_json::json;

    fn delta(text: &str) -> TurnEvent {
        TurnEvent::Delta { text: text.to_owned() }
    }

    #[test]
    fn consecutive_texts_become_one_part() {
        let call = TurnEvent::ToolCall {
            id: "1".into(),
            name: "skills.search".into(),
            arguments: json!({"query": "x"}),
        };
        let result = TurnEvent::ToolResult {
            id: "1".into(),
            name: "skills.search".into(),
            status: "success".into(),
            data: json!({"matches": []}),
        };
        let end = TurnOutcome::finished(EndReason::Finished, None).to_event("m", vec![]);
        let parts = to_parts([delta(""), delta("a"), delta("b"), call, result, delta(""), delta("c"), end]);
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
}
