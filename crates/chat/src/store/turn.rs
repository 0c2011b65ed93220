//! One answer of a model: how it is begun, what happens in it, how it ends, and what becomes of it as a message.

use serde::{Deserialize, Serialize};

use crate::{Event, Part};

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

/// An event with its number, which is higher than that of the event before it in the same chat: by one, except for an end that
/// somebody else gave a turn.
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
    /// In order, none left out.
    pub events: Vec<Numbered>,
    /// Some that were asked for are not kept any more: the chat has to be read anew.
    pub missed: bool,
    /// The number of the last event of the chat, which may be beyond these.
    pub last: u64,
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
    use crate::{End, Ending};
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
        let end = Ending::finished(End::Finished, None).event("m", vec![]);
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
}
