//! A turn that is written into a store as it happens, and told on to whoever listens, under the numbers that everybody sees.

use std::sync::Arc;

use super::{Chat, Numbered, Store, StoreError, Turn, TurnWriter};
use crate::provider::Pending;
use crate::turn::{Begun, Record, RecordError, is_reminder, loaded_skill};
use crate::{Ending, Event, Message, Part};

/// How many messages of a chat a turn begins with; what does not fit the model is left out there.
const HISTORY_MAX: usize = 1_000;

/// The most characters of a title that is made from a message.
const LINE_MAX: usize = 60;

/// What a chat brings into its next turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Past {
    /// What was said, the oldest first.
    pub messages: Vec<Message>,
    /// The skills that are active.
    pub activated: Vec<String>,
    /// What the chat is called.
    pub title: String,
}

impl Past {
    fn is_untitled(&self) -> bool {
        self.title.is_empty() && self.messages.is_empty()
    }

    /// Reads it.
    pub async fn of(store: &dyn Store, chat: &str) -> Result<Self, StoreError> {
        let Chat { activated_skill_names: activated, title, .. } = store.chat(chat).await?;
        let mut page = store.messages(chat, None, HISTORY_MAX).await?;
        let mut messages = std::mem::take(&mut page.messages);
        // A page is cut short where messages are long: one more is enough for any model.
        if let Some(before) = page.before.filter(|_| messages.len() < HISTORY_MAX) {
            let earlier = store.messages(chat, Some(before), HISTORY_MAX).await?;
            messages.splice(0..0, earlier.messages);
        }
        Ok(Self { messages, activated, title })
    }

    /// What the chat would bring if this message, and everything after it, had not been said.
    #[must_use]
    pub fn before(mut self, message: &str) -> Self {
        if let Some(at) = self.messages.iter().position(|known| known.id == message) {
            let taken = self.messages.split_off(at);
            self.activated = without_those_of(&self.activated, &taken);
        }
        self
    }
}

/// The active skills without those that were activated in messages that go.
pub(super) fn without_those_of(active: &[String], messages: &[Message]) -> Vec<String> {
    let parts = || messages.iter().flat_map(|message| &message.parts);
    let was_activated = |name: &str| {
        parts().any(|part| match part {
            Part::ToolResult { name: tool, summary, status, .. } => {
                status != "error" && loaded_skill(tool, summary) == Some(name) && !is_reminder(summary)
            }
            Part::Text { .. } | Part::ToolCall { .. } => false,
        })
    };
    active.iter().filter(|name| !was_activated(name)).cloned().collect()
}

/// What a chat is called whose first message is this: its first line, cut at a word.
///
/// ```
/// use prowess_chat::store::title_of;
///
/// assert_eq!(title_of("/pdf  fill in\nthe form"), "/pdf fill in");
/// assert_eq!(title_of(&"word ".repeat(30)), format!("{}…", "word ".repeat(12).trim_end()));
/// ```
pub fn title_of(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut title = String::new();
    for word in line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        let sum = title.chars().count() + 1 + word.chars().count();
        if sum > LINE_MAX && title.is_empty() {
            return word.chars().take(LINE_MAX - 1).chain(['…']).collect();
        }
        if sum > LINE_MAX {
            return title + "…";
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    title
}

/// Writes a turn into a store. `told` hears every event as soon as it has its number.
pub struct Keeper<F> {
    store: Arc<dyn Store>,
    begun: Begun,
    turn: Turn,
    told: F,
    writer: Option<TurnWriter>,
    activated: Vec<String>,
}

impl<F: FnMut(Numbered) + Send> Keeper<F> {
    /// Keeps what a person said in a chat, and begins the answer. Whoever drops it without an end has broken off.
    pub async fn ask(
        store: &Arc<dyn Store>,
        chat: &str,
        text: &str,
        past: &Past,
        told: F,
    ) -> Result<Self, StoreError> {
        let asked = store.ask(chat, text).await?;
        Ok(Self::begun(store, chat, text, past, told, asked).await)
    }

    /// [`ask`](Keeper::ask) in the place of the last message of a person: see [`Store::ask_instead`]. The past is the one
    /// [`before`](Past::before) that message.
    pub async fn ask_instead(
        store: &Arc<dyn Store>,
        chat: &str,
        text: &str,
        message: &str,
        past: &Past,
        told: F,
    ) -> Result<Self, StoreError> {
        let asked = store.ask_instead(chat, text, message).await?;
        Ok(Self::begun(store, chat, text, past, told, asked).await)
    }

    async fn begun(
        store: &Arc<dyn Store>,
        chat: &str,
        text: &str,
        past: &Past,
        told: F,
        (said, turn): (Message, Turn),
    ) -> Self {
        // From here on there is somebody who marks the answer, whatever happens to this.
        let writer = Some(TurnWriter::new(store.clone(), turn.clone()));
        if past.is_untitled() {
            // A title is not worth a turn.
            let _ = store.rename_chat(chat, &title_of(text)).await;
        }
        let begun = Begun { message_id: said.id, answer_id: turn.message.clone() };
        Self { store: store.clone(), begun, turn, told, writer, activated: past.activated.clone() }
    }

    /// The answer that is being written.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    async fn push(&mut self, event: Event) -> Result<(), RecordError> {
        let writer = self.writer.as_mut().ok_or_else(|| failed(StoreError::Ended))?;
        let numbered = writer.push(event).await.map_err(failed)?;
        (self.told)(numbered);
        Ok(())
    }

    async fn keep_names(&mut self, activated: &[String]) -> Result<(), RecordError> {
        if self.activated != activated {
            self.store.set_skills(&self.turn.chat, activated).await.map_err(failed)?;
            self.activated = activated.to_vec();
        }
        Ok(())
    }
}

impl<F: FnMut(Numbered) + Send> Record for Keeper<F> {
    fn begin<'a>(&'a mut self, _: &'a str) -> Pending<'a, Result<Begun, RecordError>> {
        // It was begun before the turn, so that whoever asks hears of a refusal at once.
        Box::pin(async { Ok(self.begun.clone()) })
    }

    fn delta<'a>(&'a mut self, text: &'a str) -> Pending<'a, Result<(), RecordError>> {
        Box::pin(self.push(Event::Delta { text: text.to_owned() }))
    }

    fn call<'a>(&'a mut self, call: &'a Part) -> Pending<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let Part::ToolCall { id, name, arguments } = call.clone() else { return Ok(()) };
            self.push(Event::ToolCall { id, name, arguments }).await?;
            // What a tool does cannot be undone: it is done only after it is written down that it was asked for.
            match &self.writer {
                Some(writer) => writer.flush().await.map_err(failed),
                None => Ok(()),
            }
        })
    }

    fn result<'a>(
        &'a mut self,
        result: &'a Part,
        activated: &'a [String],
    ) -> Pending<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let Part::ToolResult { id, name, summary, status } = result.clone() else { return Ok(()) };
            self.keep_names(activated).await?;
            let used = loaded_skill(&name, &summary).filter(|_| status != "error");
            if let Some(used) = used {
                // A count is not worth a turn.
                let _ = self.store.note_uses(&[used.to_owned()]).await;
            }
            self.push(Event::ToolResult { id, name, status, data: summary }).await
        })
    }

    fn end<'a>(
        &'a mut self,
        ending: &'a Ending,
        activated: &'a [String],
    ) -> Pending<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let names = self.keep_names(activated).await;
            let Some(writer) = self.writer.take() else { return Ok(()) };
            let last = writer.end(ending.clone()).await.map_err(failed)?;
            (self.told)(last);
            names
        })
    }
}

fn failed(error: StoreError) -> RecordError {
    // It is kept with the chat, and told to whoever reads it.
    RecordError { code: error.code(), message: error.without_place() }
}
