//! Recording turns.

use prowess::ErrorCode;

use crate::message::{Message, MessageState, Part, Role};
use crate::outcome::TurnOutcome;
use crate::provider::BoxFuture;

/// Why a turn cannot be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot store the chat: {message}")]
pub struct RecordError {
    /// The error code of the contract.
    pub code: ErrorCode,
    /// The reason.
    pub message: String,
}

/// The two messages of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnMessages {
    /// The message of the user.
    pub message_id: String,
    /// The reply of the model, which is still empty.
    pub reply_id: String,
}

/// Records a turn. The methods are called in the order of events: `begin`, then deltas, calls and results, then `end`.
/// An event is reported to others after it is recorded.
pub trait TurnRecorder: Send {
    /// Starts a turn with the message of the user.
    fn begin<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<TurnMessages, RecordError>>;

    /// Adds text of the model.
    fn delta<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Adds a tool call: a [`Part::ToolCall`].
    fn call<'a>(&'a mut self, call: &'a Part) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Adds a tool result: a [`Part::ToolResult`]. `activated` contains the active skills.
    fn result<'a>(
        &'a mut self,
        result: &'a Part,
        activated: &'a [String],
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Ends the turn.
    fn end<'a>(
        &'a mut self,
        outcome: &'a TurnOutcome,
        activated: &'a [String],
    ) -> BoxFuture<'a, Result<(), RecordError>>;
}

/// Keeps a chat in memory.
///
/// ```
/// use prowess_chat::turn::{MemoryRecorder, TurnRecorder};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let mut chat = MemoryRecorder::default();
/// chat.begin("hello").await.unwrap();
/// chat.delta("hi").await.unwrap();
/// assert_eq!(chat.messages.len(), 2);
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MemoryRecorder {
    /// The messages.
    pub messages: Vec<Message>,
    /// The names of the active skills.
    pub activated: Vec<String>,
}

impl MemoryRecorder {
    fn add_message(&mut self, role: Role, parts: Vec<Part>, state: MessageState) -> String {
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let at = at.map_or(0, |at| u64::try_from(at.as_millis()).unwrap_or(u64::MAX));
        let id = format!("m{}", self.messages.len() + 1);
        self.messages.push(Message { id: id.clone(), role, parts, state, usage: None, at });
        id
    }

    fn add_part(&mut self, part: &Part) {
        let Some(last) = self.messages.last_mut() else { return };
        match (last.parts.last_mut(), part) {
            (Some(Part::Text { text }), Part::Text { text: more }) => text.push_str(more),
            _ => last.parts.push(part.clone()),
        }
    }
}

impl TurnRecorder for MemoryRecorder {
    fn begin<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<TurnMessages, RecordError>> {
        let parts = vec![Part::Text { text: text.to_owned() }];
        let message_id = self.add_message(Role::User, parts, MessageState::Complete);
        let answer_id = self.add_message(Role::Assistant, Vec::new(), MessageState::Writing);
        Box::pin(async { Ok(TurnMessages { message_id, reply_id: answer_id }) })
    }

    fn delta<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<(), RecordError>> {
        self.add_part(&Part::Text { text: text.to_owned() });
        Box::pin(async { Ok(()) })
    }

    fn call<'a>(&'a mut self, call: &'a Part) -> BoxFuture<'a, Result<(), RecordError>> {
        self.add_part(call);
        Box::pin(async { Ok(()) })
    }

    fn result<'a>(
        &'a mut self,
        result: &'a Part,
        activated: &'a [String],
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        self.add_part(result);
        self.activated = activated.to_vec();
        Box::pin(async { Ok(()) })
    }

    fn end<'a>(
        &'a mut self,
        outcome: &'a TurnOutcome,
        activated: &'a [String],
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        if let Some(last) = self.messages.last_mut() {
            (last.state, last.usage) = (outcome.message_state(), outcome.usage());
        }
        self.activated = activated.to_vec();
        Box::pin(async { Ok(()) })
    }
}
