//! A chat store for one test, and the macro that runs a test on both databases.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prowess_chat::store::{Chat, NewChat, Store, StoreAddress, StoreError, StoreOptions, open_with};

use crate::postgres::PostgresServer;

/// Runs each of these tests on SQLite and on PostgreSQL.
#[macro_export]
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(&mut $crate::store::TestStore::sqlite()).await })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(&mut $crate::store::TestStore::postgres()).await })*
        }
    };
}

/// A file or a database server, removed on drop.
pub struct TestStore {
    /// The directory of the file.
    pub dir: tempfile::TempDir,
    /// The database server, unless the store is a file.
    pub server: Option<PostgresServer>,
    /// The options with which the store is opened.
    pub options: StoreOptions,
}

impl TestStore {
    /// Creates an SQLite store.
    pub fn sqlite() -> Self {
        let options = StoreOptions {
            busy_timeout: Duration::from_millis(500),
            lease: Duration::from_secs(2),
            ..StoreOptions::default()
        };
        Self { dir: tempfile::tempdir().unwrap(), server: None, options }
    }

    /// Creates a PostgreSQL store.
    pub fn postgres() -> Self {
        Self { server: Some(PostgresServer::start()), ..Self::sqlite() }
    }

    /// Returns the path of the SQLite file.
    pub fn file(&self) -> PathBuf {
        self.dir.path().join("state/chats.sqlite3")
    }

    /// Returns the address of the store.
    pub fn address(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => self.file().to_str().unwrap().to_owned(),
        }
    }

    /// Opens the store, with its own connections.
    pub async fn try_open(&self) -> Result<Arc<dyn Store>, StoreError> {
        open_with(&StoreAddress::parse(&self.address()).unwrap(), self.options).await
    }

    /// Opens the store. Panics if that fails.
    pub async fn open(&self) -> Arc<dyn Store> {
        self.try_open().await.unwrap()
    }

    /// Opens the store and creates a chat.
    pub async fn chat(&self) -> (Arc<dyn Store>, Chat) {
        let store = self.open().await;
        let chat = new_chat(&store).await;
        (store, chat)
    }
}

/// Creates a chat.
pub async fn new_chat(store: &Arc<dyn Store>) -> Chat {
    store.create_chat(NewChat { title: "A talk".into(), preset: "standard".into() }).await.unwrap()
}
