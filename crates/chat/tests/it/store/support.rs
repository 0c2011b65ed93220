//! Events and messages of stored chats.

use std::sync::Arc;

use prowess_chat::store::{NumberedEvent, Store, TurnWriter};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{Message, MessageState, Part, TurnEvent};
pub use prowess_testing::both;
pub use prowess_testing::store::{TestStore, new_chat};
pub use prowess_testing::wait::wait_until;
use serde_json::json;

pub fn delta(text: &str) -> TurnEvent {
    TurnEvent::Delta { text: text.to_owned() }
}

pub fn call(id: &str) -> TurnEvent {
    TurnEvent::ToolCall { id: id.into(), name: "skills.activate".into(), arguments: json!({"name": "pdf"}) }
}

pub fn result(id: &str) -> TurnEvent {
    let data = json!({"name": "pdf", "digest": "sha256:00", "body": "Read the form first."});
    TurnEvent::ToolResult { id: id.into(), name: "skills.activate".into(), status: "success".into(), data }
}

/// Adds a question and a reply.
pub async fn exchange(store: &Arc<dyn Store>, chat: &str, question: &str, answer: &str) -> NumberedEvent {
    let (_, turn) = store.ask(chat, question.into()).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(delta(answer)).await.unwrap();
    writer.end(TurnOutcome::finished(EndReason::Finished, None)).await.unwrap()
}

pub async fn messages(store: &Arc<dyn Store>, chat: &str) -> Vec<Message> {
    store.messages(chat, None, 1_000).await.unwrap().messages
}

pub fn message_text(message: &Message) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::File { .. }
        | Part::Thinking { .. }
        | Part::Summary { .. }
        | Part::ToolCall { .. }
        | Part::ToolResult { .. } => String::new(),
    };
    message.parts.iter().map(text).collect()
}

/// Returns the reason of an interrupted message.
pub fn interruption(message: &Message) -> &str {
    match &message.state {
        MessageState::Interrupted { reason } => reason,
        state => panic!("not interrupted: {state:?}"),
    }
}
