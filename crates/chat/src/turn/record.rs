//! Recording turns.

use async_trait::async_trait;
use prowess::ErrorCode;

use crate::event::TurnEvent;
use crate::message::{Message, MessageState, Part, Role, push_part};
use crate::outcome::TurnOutcome;
use crate::thinking::ThinkingSeal;

/// Why a turn cannot be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot store the chat: {message}")]
pub struct RecordError {
    /// The stable error code.
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
#[async_trait]
pub trait TurnRecorder: Send {
    /// Starts a turn with the message of the user.
    async fn begin(&mut self, text: &str) -> Result<TurnMessages, RecordError>;

    /// Adds text of the model.
    async fn delta(&mut self, text: &str) -> Result<(), RecordError>;

    /// Adds thinking of the model. A seal ends it.
    async fn thinking(&mut self, text: &str, seal: Option<ThinkingSeal>) -> Result<(), RecordError> {
        let _ = (text, seal);
        Ok(())
    }

    /// Adds a summary of earlier messages.
    async fn summary(&mut self, text: &str, replaces: &[String]) -> Result<(), RecordError> {
        let _ = (text, replaces);
        Ok(())
    }

    /// Adds a tool call: a [`Part::ToolCall`].
    async fn call(&mut self, call: &Part) -> Result<(), RecordError>;

    /// Adds an event that is not part of the message: a question about a script ([`TurnEvent::Consent`]), or why the turn
    /// waits. Chats that are not followed by other clients need not keep it.
    async fn notice(&mut self, event: TurnEvent) -> Result<(), RecordError> {
        let _ = event;
        Ok(())
    }

    /// Adds a tool result: a [`Part::ToolResult`]. `activated` contains the active skills.
    async fn result(&mut self, result: &Part, activated: &[String]) -> Result<(), RecordError>;

    /// Ends the turn.
    async fn end(&mut self, outcome: &TurnOutcome, activated: &[String]) -> Result<(), RecordError>;
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
        let now = prowess_fs::unix_millis();
        let id = format!("m{}", self.messages.len() + 1);
        self.messages.push(Message { id: id.clone(), role, parts, state, usage: None, at: now });
        id
    }

    fn add_part(&mut self, part: &Part) {
        if let Some(last) = self.messages.last_mut() {
            push_part(&mut last.parts, part.clone());
        }
    }
}

#[async_trait]
impl TurnRecorder for MemoryRecorder {
    async fn begin(&mut self, text: &str) -> Result<TurnMessages, RecordError> {
        let parts = vec![Part::Text { text: text.to_owned() }];
        let message_id = self.add_message(Role::User, parts, MessageState::Complete);
        let reply_id = self.add_message(Role::Assistant, Vec::new(), MessageState::Writing);
        Ok(TurnMessages { message_id, reply_id })
    }

    async fn delta(&mut self, text: &str) -> Result<(), RecordError> {
        self.add_part(&Part::Text { text: text.to_owned() });
        Ok(())
    }

    async fn thinking(&mut self, text: &str, seal: Option<ThinkingSeal>) -> Result<(), RecordError> {
        self.add_part(&Part::Thinking { text: text.to_owned(), seal });
        Ok(())
    }

    async fn summary(&mut self, text: &str, replaces: &[String]) -> Result<(), RecordError> {
        self.add_part(&Part::Summary { text: text.to_owned(), replaces: replaces.to_vec() });
        Ok(())
    }

    async fn call(&mut self, call: &Part) -> Result<(), RecordError> {
        self.add_part(call);
        Ok(())
    }

    async fn result(&mut self, result: &Part, activated: &[String]) -> Result<(), RecordError> {
        self.add_part(result);
        self.activated = activated.to_vec();
        Ok(())
    }

    async fn end(&mut self, outcome: &TurnOutcome, activated: &[String]) -> Result<(), RecordError> {
        if let Some(last) = self.messages.last_mut() {
            (last.state, last.usage) = (outcome.message_state(), outcome.usage());
        }
        self.activated = activated.to_vec();
        Ok(())
    }
}
