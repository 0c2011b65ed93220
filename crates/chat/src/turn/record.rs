//! Where a turn is written down as it happens.

use prowess::ErrorCode;

use crate::ending::Ending;
use crate::message::{Message, Part, Role, State};
use crate::provider::Pending;

/// Why it could not be written down.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the chat cannot be kept: {message}")]
pub struct RecordError {
    /// The contract's code.
    pub code: ErrorCode,
    /// The reason.
    pub message: String,
}

/// The two messages of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// The person's.
    pub message_id: String,
    /// The model's, of which nothing is there yet.
    pub answer_id: String,
}

/// Writes a turn down. Calls come in the order of what happens: `begin`, then pieces, calls and results, then `end`.
/// What a call has returned from is as good as kept: it is told to others next.
pub trait Record: Send {
    /// The person said this, and the model is about to answer.
    fn begin<'a>(&'a mut self, text: &'a str) -> Pending<'a, Result<Begun, RecordError>>;

    /// The model said more.
    fn delta<'a>(&'a mut self, text: &'a str) -> Pending<'a, Result<(), RecordError>>;

    /// The model called a tool: a [`Part::ToolCall`].
    fn call<'a>(&'a mut self, call: &'a Part) -> Pending<'a, Result<(), RecordError>>;

    /// The tool answered: a [`Part::ToolResult`]. `activated` are the names of the skills that are active now.
    fn result<'a>(
        &'a mut self,
        result: &'a Part,
        activated: &'a [String],
    ) -> Pending<'a, Result<(), RecordError>>;

    /// The turn is over.
    fn end<'a>(
        &'a mut self,
        ending: &'a Ending,
        activated: &'a [String],
    ) -> Pending<'a, Result<(), RecordError>>;
}

/// A chat that is kept in memory, for as long as this is.
///
/// ```
/// use prowess_chat::turn::{Memory, Record};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let mut chat = Memory::default();
/// chat.begin("hello").await.unwrap();
/// chat.delta("hi").await.unwrap();
/// assert_eq!(chat.messages.len(), 2);
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Memory {
    /// What was said.
    pub messages: Vec<Message>,
    /// The names of the skills that are active.
    pub activated: Vec<String>,
}

impl Memory {
    fn message(&mut self, role: Role, parts: Vec<Part>, state: State) -> String {
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let at = at.map_or(0, |at| u64::try_from(at.as_millis()).unwrap_or(u64::MAX));
        let id = format!("m{}", self.messages.len() + 1);
        self.messages.push(Message { id: id.clone(), role, parts, state, usage: None, at });
        id
    }

    fn part(&mut self, part: &Part) {
        let Some(last) = self.messages.last_mut() else { return };
        match (last.parts.last_mut(), part) {
            (Some(Part::Text { text }), Part::Text { text: more }) => text.push_str(more),
            _ => last.parts.push(part.clone()),
        }
    }
}

impl Record for Memory {
    fn begin<'a>(&'a mut self, text: &'a str) -> Pending<'a, Result<Begun, RecordError>> {
        let said = vec![Part::Text { text: text.to_owned() }];
        let message_id = self.message(Role::User, said, State::Complete);
        let answer_id = self.message(Role::Assistant, Vec::new(), State::Writing);
        Box::pin(async { Ok(Begun { message_id, answer_id }) })
    }

    fn delta<'a>(&'a mut self, text: &'a str) -> Pending<'a, Result<(), RecordError>> {
        self.part(&Part::Text { text: text.to_owned() });
        Box::pin(async { Ok(()) })
    }

    fn call<'a>(&'a mut self, call: &'a Part) -> Pending<'a, Result<(), RecordError>> {
        self.part(call);
        Box::pin(async { Ok(()) })
    }

    fn result<'a>(
        &'a mut self,
        result: &'a Part,
        activated: &'a [String],
    ) -> Pending<'a, Result<(), RecordError>> {
        self.part(result);
        self.activated = activated.to_vec();
        Box::pin(async { Ok(()) })
    }

    fn end<'a>(
        &'a mut self,
        ending: &'a Ending,
        activated: &'a [String],
    ) -> Pending<'a, Result<(), RecordError>> {
        if let Some(last) = self.messages.last_mut() {
            (last.state, last.usage) = (ending.state(), ending.usage());
        }
        self.activated = activated.to_vec();
        Box::pin(async { Ok(()) })
    }
}
