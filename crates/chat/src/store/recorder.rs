//! Records a turn in a store and reports its numbered events.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Chat, NumberedEvent, Store, StoreError, StoredTurn, TurnWriter, UserMessage};
use crate::turn::{RecordError, TurnMessages, TurnRecorder, is_reminder, loaded_skill_name};
use crate::{Message, Part, ThinkingSeal, TurnEvent, TurnOutcome};

/// How many messages of a chat are loaded for a turn.
const HISTORY_MAX: usize = 1_000;

/// The maximum number of characters of a title that is derived from a message.
const DERIVED_TITLE_MAX: usize = 60;

/// The state of a chat before a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatHistory {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// The active skills.
    pub activated: Vec<String>,
    /// The title of the chat.
    pub title: String,
}

impl ChatHistory {
    fn is_untitled(&self) -> bool {
        self.title.is_empty() && self.messages.is_empty()
    }

    /// Loads the history of a chat.
    pub async fn load(store: &dyn Store, chat: &str) -> Result<Self, StoreError> {
        let Chat { activated_skill_names: activated, title, .. } = store.chat(chat).await?;
        let mut page = store.messages(chat, None, HISTORY_MAX).await?;
        let mut messages = std::mem::take(&mut page.messages);
        // Pages are shorter if messages are long; one more page is enough for any model.
        if let Some(before) = page.before.filter(|_| messages.len() < HISTORY_MAX) {
            let earlier = store.messages(chat, Some(before), HISTORY_MAX).await?;
            messages.splice(0..0, earlier.messages);
        }
        Ok(Self { messages, activated, title })
    }

    /// Returns the message of the user that a reply answers.
    pub fn question_of(&self, reply: &str) -> Option<Message> {
        let index = self.messages.iter().position(|message| message.id == reply)?;
        let question = self.messages.get(index.checked_sub(1)?)?;
        (question.role == crate::Role::User).then(|| question.clone())
    }

    /// Returns the history without this message and everything after it.
    #[must_use]
    pub fn before(mut self, message: &str) -> Self {
        if let Some(index) = self.messages.iter().position(|stored| stored.id == message) {
            let removed = self.messages.split_off(index);
            self.activated = without_skills_activated_in(&self.activated, &removed);
        }
        self
    }
}

/// Returns the active skills without those that were activated in these messages. A reminder, which is a result without
/// instructions because the skill was already active, does not count.
pub(super) fn without_skills_activated_in(active: &[String], messages: &[Message]) -> Vec<String> {
    let parts = || messages.iter().flat_map(|message| &message.parts);
    // The key of a skill of an MCP server ends with its name.
    let is_same = |loaded: &str, key: &str| {
        key.strip_suffix(loaded).is_some_and(|source| source.is_empty() || source.ends_with('/'))
    };
    let was_activated = |key: &str| {
        parts().any(|part| match part {
            Part::ToolResult { name: tool, summary, status, .. } => {
                let loaded = loaded_skill_name(tool, summary).is_some_and(|loaded| is_same(loaded, key));
                loaded && status != "error" && !is_reminder(summary)
            }
            Part::Text { .. }
            | Part::File { .. }
            | Part::Thinking { .. }
            | Part::Summary { .. }
            | Part::ToolCall { .. } => false,
        })
    };
    active.iter().filter(|key| !was_activated(key)).cloned().collect()
}

/// Derives the title of a chat from its first message: the first line, truncated at a word.
///
/// ```
/// use prowess_chat::store::derive_title;
///
/// assert_eq!(derive_title("/pdf  fill in\nthe form"), "/pdf fill in");
/// assert_eq!(derive_title(&"word ".repeat(30)), format!("{}…", "word ".repeat(12).trim_end()));
/// ```
pub fn derive_title(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut title = String::new();
    for word in line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        let sum = title.chars().count() + 1 + word.chars().count();
        if sum > DERIVED_TITLE_MAX && title.is_empty() {
            return word.chars().take(DERIVED_TITLE_MAX - 1).chain(['…']).collect();
        }
        if sum > DERIVED_TITLE_MAX {
            return title + "…";
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    title
}

/// What a turn answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStart<'a> {
    /// A new message.
    Ask(UserMessage<'a>),
    /// A new message that replaces the message of the user with this id.
    Replace(UserMessage<'a>, &'a str),
    /// The message that the reply with this id answers.
    Regenerate(&'a str),
}

/// A turn that was started, and what the model must know for it.
pub struct StartedTurn<F> {
    /// The chat before the message.
    pub history: ChatHistory,
    /// The text of the message.
    pub text: String,
    /// The paths of its files.
    pub files: Vec<String>,
    /// Records the reply.
    pub recorder: StoreRecorder<F>,
}

/// Records a turn in a store. `on_event` receives every event with its number.
pub struct StoreRecorder<F> {
    store: Arc<dyn Store>,
    messages: TurnMessages,
    turn: StoredTurn,
    on_event: F,
    writer: Option<TurnWriter>,
    activated: Vec<String>,
}

impl<F: FnMut(NumberedEvent) + Send> StoreRecorder<F> {
    /// Stores the message, if it is new, and starts the reply.
    pub async fn begin(
        store: &Arc<dyn Store>,
        chat: &str,
        start: TurnStart<'_>,
        on_event: F,
    ) -> Result<StartedTurn<F>, StoreError> {
        let history = ChatHistory::load(&**store, chat).await?;
        let (history, (text, files), recorder) = match start {
            TurnStart::Ask(message) => {
                let recorder = Self::ask(store, chat, message, &history, on_event).await?;
                (history, message.to_owned(), recorder)
            }
            TurnStart::Replace(message, question) => {
                let history = history.before(question);
                let recorder =
                    Self::replace_question(store, chat, message, question, &history, on_event).await?;
                (history, message.to_owned(), recorder)
            }
            TurnStart::Regenerate(reply) => {
                let question = history.question_of(reply).ok_or(StoreError::MessageNotFound)?;
                let history = history.before(&question.id);
                let recorder = Self::regenerate(store, chat, reply, &history, on_event).await?;
                (history, question.to_request(), recorder)
            }
        };
        Ok(StartedTurn { history, text, files, recorder })
    }

    /// Stores a message of the user and starts the reply. Dropping the recorder before the end marks the turn as
    /// interrupted.
    pub async fn ask(
        store: &Arc<dyn Store>,
        chat: &str,
        message: UserMessage<'_>,
        past: &ChatHistory,
        on_event: F,
    ) -> Result<Self, StoreError> {
        let started = store.ask(chat, message).await?;
        Ok(Self::start(store, chat, Some(message.text), past, on_event, started).await)
    }

    /// Starts another version of a reply; see [`Store::regenerate`]. `past` is the history
    /// [`before`](ChatHistory::before) the message that it answers.
    async fn regenerate(
        store: &Arc<dyn Store>,
        chat: &str,
        reply: &str,
        past: &ChatHistory,
        on_event: F,
    ) -> Result<Self, StoreError> {
        let started = store.regenerate(chat, reply).await?;
        // The chat has a title.
        Ok(Self::start(store, chat, None, past, on_event, started).await)
    }

    /// [`ask`](StoreRecorder::ask) that replaces a message of the user; see [`Store::replace_question`]. `past` is
    /// the history [`before`](ChatHistory::before) that message.
    pub async fn replace_question(
        store: &Arc<dyn Store>,
        chat: &str,
        message: UserMessage<'_>,
        replaced: &str,
        past: &ChatHistory,
        on_event: F,
    ) -> Result<Self, StoreError> {
        let started = store.replace_question(chat, message, replaced).await?;
        Ok(Self::start(store, chat, Some(message.text), past, on_event, started).await)
    }

    async fn start(
        store: &Arc<dyn Store>,
        chat: &str,
        text: Option<&str>,
        past: &ChatHistory,
        on_event: F,
        (message, turn): (Message, StoredTurn),
    ) -> Self {
        // The writer marks the reply as interrupted if this recorder is dropped.
        let writer = Some(TurnWriter::new(store.clone(), turn.clone()));
        if let Some(text) = text.filter(|_| past.is_untitled()) {
            // A missing title must not fail the turn.
            let _ = store.rename_chat(chat, &derive_title(text)).await;
        }
        let messages = TurnMessages { message_id: message.id, reply_id: turn.message.clone() };
        Self { store: store.clone(), messages, turn, on_event, writer, activated: past.activated.clone() }
    }

    /// Returns the turn that is being written.
    pub fn turn(&self) -> &StoredTurn {
        &self.turn
    }

    async fn push(&mut self, event: TurnEvent) -> Result<(), RecordError> {
        let writer = self.writer.as_mut().ok_or_else(|| to_record_error(StoreError::TurnEnded))?;
        let numbered = writer.push(event).await.map_err(to_record_error)?;
        (self.on_event)(numbered.without_seal());
        Ok(())
    }

    async fn store_active_skills(&mut self, activated: &[String]) -> Result<(), RecordError> {
        if self.activated != activated {
            self.store.set_turn_skills(&self.turn, activated).await.map_err(to_record_error)?;
            self.activated = activated.to_vec();
        }
        Ok(())
    }
}

#[async_trait]
impl<F: FnMut(NumberedEvent) + Send> TurnRecorder for StoreRecorder<F> {
    async fn begin(&mut self, _: &str) -> Result<TurnMessages, RecordError> {
        // The turn was started before, so that the caller sees an error immediately.
        Ok(self.messages.clone())
    }

    async fn delta(&mut self, text: &str) -> Result<(), RecordError> {
        self.push(TurnEvent::Delta { text: text.to_owned() }).await
    }

    async fn thinking(&mut self, text: &str, seal: Option<ThinkingSeal>) -> Result<(), RecordError> {
        self.push(TurnEvent::Thinking { text: text.to_owned(), seal }).await
    }

    async fn summary(&mut self, text: &str, replaces: &[String]) -> Result<(), RecordError> {
        self.push(TurnEvent::Summary { text: text.to_owned(), replaces: replaces.to_vec() }).await
    }

    async fn call(&mut self, call: &Part) -> Result<(), RecordError> {
        let Part::ToolCall { id, name, arguments } = call.clone() else { return Ok(()) };
        self.push(TurnEvent::ToolCall { id, name, arguments }).await?;
        // The effects of a tool cannot be undone, so the call is stored first.
        match &self.writer {
            Some(writer) => writer.flush().await.map_err(to_record_error),
            None => Ok(()),
        }
    }

    async fn notice(&mut self, event: TurnEvent) -> Result<(), RecordError> {
        self.push(event).await
    }

    async fn result(&mut self, result: &Part, activated: &[String]) -> Result<(), RecordError> {
        let Part::ToolResult { id, name, summary, status } = result.clone() else { return Ok(()) };
        self.store_active_skills(activated).await?;
        let used = loaded_skill_name(&name, &summary).filter(|_| status != "error");
        if let Some(used) = used {
            // A missing count must not fail the turn.
            let _ = self.store.record_skill_uses(&[used.to_owned()]).await;
        }
        self.push(TurnEvent::ToolResult { id, name, status, data: summary }).await
    }

    async fn end(&mut self, outcome: &TurnOutcome, activated: &[String]) -> Result<(), RecordError> {
        let stored = self.store_active_skills(activated).await;
        let Some(writer) = self.writer.take() else { return stored };
        let last = writer.end(outcome.clone()).await.map_err(to_record_error)?;
        (self.on_event)(last);
        stored
    }
}

fn to_record_error(error: StoreError) -> RecordError {
    // The message is stored with the chat and shown to users.
    RecordError { code: error.code(), message: error.public_message() }
}
