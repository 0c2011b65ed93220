//! A place for chats, and the macro that runs a test on both databases.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prowess_chat::store::{
    Address, Chat, NewChat, Numbered, Options, Store, StoreError, TurnWriter, open_with,
};
use prowess_chat::{End, Ending};
use prowess_chat::{Event, Message, Part, State};
use serde_json::json;
use tempfile::TempDir;

use prowess_testing::postgres::Server;

/// Each of these tests on SQLite and on PostgreSQL.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(&mut crate::store::world::World::sqlite()).await })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(&mut crate::store::world::World::postgres()).await })*
        }
    };
}
pub(crate) use both;

pub struct World {
    pub folder: TempDir,
    pub server: Option<Server>,
    pub options: Options,
}

impl World {
    pub fn sqlite() -> Self {
        let options =
            Options { busy: Duration::from_millis(500), lease: Duration::from_secs(2), ..Options::default() };
        Self { folder: tempfile::tempdir().unwrap(), server: None, options }
    }

    pub fn postgres() -> Self {
        Self { server: Some(Server::start()), ..Self::sqlite() }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("state/chats.sqlite3")
    }

    pub fn address(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => self.file().to_str().unwrap().to_owned(),
        }
    }

    pub async fn try_open(&self) -> Result<Arc<dyn Store>, StoreError> {
        open_with(&Address::parse(&self.address()).unwrap(), self.options).await
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

pub fn said(text: &str) -> Event {
    Event::Delta { text: text.to_owned() }
}

pub fn call(id: &str) -> Event {
    Event::ToolCall { id: id.into(), name: "skills.activate".into(), arguments: json!({"name": "pdf"}) }
}

pub fn result(id: &str) -> Event {
    let data = json!({"name": "pdf", "digest": "sha256:00", "body": "Read the form first."});
    Event::ToolResult { id: id.into(), name: "skills.activate".into(), status: "success".into(), data }
}

/// A question, and an answer of these words.
pub async fn exchange(store: &Arc<dyn Store>, chat: &str, question: &str, answer: &str) -> Numbered {
    let (_, turn) = store.ask(chat, question).await.unwrap();
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(said(answer)).await.unwrap();
    writer.end(Ending::finished(End::Finished, None)).await.unwrap()
}

pub async fn messages(store: &Arc<dyn Store>, chat: &str) -> Vec<Message> {
    store.messages(chat, None, 1_000).await.unwrap().messages
}

pub fn words(message: &Message) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::ToolCall { .. } | Part::ToolResult { .. } => String::new(),
    };
    message.parts.iter().map(text).collect()
}

/// The reason of a message that broke off.
pub fn marker(message: &Message) -> &str {
    match &message.state {
        State::Interrupted { reason } => reason,
        state => panic!("not interrupted: {state:?}"),
    }
}

/// Waits until something is so. Nothing is asserted about how long it takes.
pub async fn until(mut so: impl AsyncFnMut() -> bool) {
    while !so().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
