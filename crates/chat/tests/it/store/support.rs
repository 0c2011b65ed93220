//! A store for tests, and the macro that runs a test on both databases.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prowess_chat::store::{
    Chat, NewChat, NumberedEvent, Store, StoreAddress, StoreError, StoreOptions, TurnWriter, open_with,
};
use prowess_chat::{EndReason, TurnOutcome};
use prowess_chat::{Message, MessageState, Part, TurnEvent};
use serde_json::json;
use tempfile::TempDir;

use prowess_testing::postgres::PostgresServer;

/// Runs each of these tests on SQLite and on PostgreSQL.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(&mut crate::store::support::TestStore::sqlite()).await })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(&mut crate::store::support::TestStore::postgres()).await })*
        }
    };
}
pub(crate) use both;

pub struct TestStore {
    pub dir: TempDir,
    pub server: Option<PostgresServer>,
    pub options: StoreOptions,
}

impl TestStore {
    pub fn sqlite() -> Self {
        let options = StoreOptions {
            busy_timeout: Duration::from_millis(500),
            lease: Duration::from_secs(2),
            ..StoreOptions::default()
        };
        Self { dir: tempfile::tempdir().unwrap(), server: None, options }
    }

    pub fn postgres() -> Self {
        Self { server: Some(PostgresServer::start()), ..Self::sqlite() }
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("state/chats.sqlite3")
    }

    pub fn address(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => self.file().to_str().unwrap().to_owned(),
        }
    }

    pub async fn try_open(&self) -> Result<Arc<dyn Store>, StoreError> {
        open_with(&StoreAddress::parse(&self.address()).unwrap(), self.options).await
    }

    pub async fn open(&self) -> Arc<dyn Store> {
        self.try_open().await.unwrap()
    }

    pub async fn chat(&self) -> (Arc<dyn Store>, Chat) {
        let store = self.open().await;
        let chat = new_chat(&store).await;
        (store, chat)
    }
}

pub async fn new_chat(store: &Arc<dyn Store>) -> Chat {
    store.create_chat(NewChat { title: "A talk".into(), preset: "standard".into() }).await.unwrap()
}

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
    let (_, turn) = store.ask(chat, question).await.unwrap();
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
        Part::ToolCall { .. } | Part::ToolResult { .. } => String::new(),
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

/// Waits until a condition is met, without a timeout.
pub async fn wait_until(mut condition: impl AsyncFnMut() -> bool) {
    while !condition().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
