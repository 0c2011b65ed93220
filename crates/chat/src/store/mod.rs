//! Where chats are kept: one trait, in a file with SQLite or in PostgreSQL for several servers.
//!
//! What must always hold:
//! - What was said is kept before it is needed again: a process that is killed leaves the chat readable, with what was said so
//!   far and a marker.
//! - One answer is written in a chat at a time, and only by the process that began it, until that process is gone.
//! - The body of a skill is never kept, only its digest; neither is any secret of the configuration.
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use prowess_chat::Event;
//! use prowess_chat::{End, Ending};
//! use prowess_chat::store::{Address, NewChat, TurnWriter};
//!
//! let folder = tempfile::tempdir()?;
//! let store = prowess_chat::store::open(&Address::File(folder.path().join("chats.sqlite3"))).await?;
//! let chat = store.create_chat(NewChat::default()).await?;
//! let (question, turn) = store.ask(&chat.id, "What is in this file?").await?;
//! let mut writer = TurnWriter::new(store.clone(), turn);
//! writer.push(Event::Delta { text: "A table.".to_owned() }).await?;
//! writer.end(Ending::finished(End::Finished, None)).await?;
//! let page = store.messages(&chat.id, None, 50).await?;
//! assert_eq!(page.messages.len(), 2);
//! # let _ = question;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sqlite"))]
//! # fn main() {}
//! ```

#![cfg_attr(not(any(feature = "sqlite", feature = "postgres")), allow(dead_code))]

mod address;
mod chat;
mod error;
mod follow;
mod hub;
mod keeper;
mod kept;
mod limits;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod transfer;
mod turn;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use address::{Address, Database, FILE_NAME};
pub use chat::{Chat, ChatPage, MessagePage, NewChat, SkillUse, recency};
pub use error::StoreError;
pub use follow::{Follow, Followed};
pub use hub::{Announcements, Subscription, Topic};
pub use keeper::{Keeper, Past, title_of};
pub use kept::{STRING_MAX, kept};
pub use limits::{CHATS_MAX, MESSAGE_MAX, MESSAGES_MAX, NAMES_MAX, TITLE_MAX};
pub use turn::{Events, Numbered, Turn};
pub use writer::TurnWriter;

use crate::{Ending, Event, Message};

/// How long things may take, and how many connections are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long another program may hold the file of SQLite before a call fails.
    pub busy: Duration,
    /// How long a process may be silent before its turns in PostgreSQL are ended. With SQLite it is known at once whether a
    /// process lives. A third of it is how often turns of processes that are gone are looked for.
    pub lease: Duration,
    /// How many connections to PostgreSQL are made, besides the one that listens.
    pub connections: usize,
    /// How long one call to PostgreSQL may take in all.
    pub call: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy: Duration::from_secs(5),
            lease: Duration::from_secs(15),
            connections: 8,
            call: Duration::from_secs(60),
        }
    }
}

/// Chats, kept. Every method may be called from many tasks and processes at once.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Begins a chat.
    async fn create_chat(&self, new: NewChat) -> Result<Chat, StoreError>;

    /// The chats, the latest first, at most [`CHATS_MAX`] at a time. `after` is what the page before gave as `next`.
    async fn chats(&self, after: Option<&str>, most: usize) -> Result<ChatPage, StoreError>;

    /// The ids of chats in an order that does not change, beginning after this one; for going through all of them.
    async fn chat_ids(&self, after: Option<&str>, most: usize) -> Result<Vec<String>, StoreError>;

    /// How many chats there are.
    async fn chat_count(&self) -> Result<u64, StoreError>;

    /// One chat, without its messages.
    async fn chat(&self, chat: &str) -> Result<Chat, StoreError>;

    /// The last messages of a chat, or those before a place that the page before gave, in the order in which they were said.
    /// At most [`MESSAGES_MAX`], and fewer where they are long.
    async fn messages(&self, chat: &str, before: Option<u64>, most: usize)
    -> Result<MessagePage, StoreError>;

    /// Gives a chat another title.
    async fn rename_chat(&self, chat: &str, title: &str) -> Result<(), StoreError>;

    /// Deletes a chat and everything in it. A turn that is running there ends with its next word.
    async fn delete_chat(&self, chat: &str) -> Result<(), StoreError>;

    /// Adds what a person said.
    async fn say(&self, chat: &str, text: &str) -> Result<Message, StoreError>;

    /// Begins the model's answer, which is written with [`TurnWriter`]. There is one at a time in a chat
    /// ([`StoreError::Writing`]); one whose process is gone is ended first.
    async fn begin(&self, chat: &str) -> Result<Turn, StoreError>;

    /// [`say`](Store::say) and [`begin`](Store::begin): both or neither.
    async fn ask(&self, chat: &str, text: &str) -> Result<(Message, Turn), StoreError>;

    /// [`ask`](Store::ask) in the place of the last message of a person, which goes, with everything that was answered to it: all
    /// of that or nothing. Skills that were activated only there are not active any more.
    async fn ask_instead(&self, chat: &str, text: &str, message: &str)
    -> Result<(Message, Turn), StoreError>;

    /// Adds events to a turn, the first of them with the number `from`. Events that are there already are passed over, so that
    /// whoever does not know whether a call succeeded repeats it.
    async fn append(&self, turn: &Turn, from: u64, events: &[Event]) -> Result<(), StoreError>;

    /// Ends a turn with a last event of the number `from`. It may be repeated, too.
    async fn end(&self, turn: &Turn, from: u64, ending: &Ending) -> Result<Numbered, StoreError>;

    /// Ends whatever is being written in a chat, no matter who writes it: for people who press stop. The writer notices with its
    /// next word. Says whether there was anything.
    async fn stop(&self, chat: &str, ending: &Ending) -> Result<bool, StoreError>;

    /// Ends turns whose processes are gone, with a marker; the chats. It happens by itself when a store is opened and every few
    /// seconds after that.
    async fn sweep(&self) -> Result<Vec<String>, StoreError>;

    /// The events of a chat that have a higher number than this one. Those of the last two turns are kept.
    async fn events_after(&self, chat: &str, after: u64) -> Result<Events, StoreError>;

    /// Tells when there are new events in a chat, from whichever process. See [`Follow`], which does the rest.
    fn subscribe(&self, chat: &str) -> Subscription;

    /// Tells every process that uses this store; with SQLite, this one.
    fn announce(&self, topic: Topic);

    /// What others announce.
    fn announcements(&self) -> Announcements;

    /// Keeps which skills are active in a chat: names only, in this order.
    async fn set_skills(&self, chat: &str, names: &[String]) -> Result<(), StoreError>;

    /// Counts one use of each of these skills.
    async fn note_uses(&self, names: &[String]) -> Result<(), StoreError>;

    /// How often and when skills were used, the latest first.
    async fn skill_uses(&self) -> Result<Vec<SkillUse>, StoreError>;

    /// Adds whole chats, all or none; the ids that they got. What has an id that is taken gets another. See
    /// [`transfer::import`].
    async fn add_chats(&self, chats: Vec<transfer::Record>) -> Result<Vec<String>, StoreError>;

    /// Whether the database answers.
    async fn check(&self) -> Result<(), StoreError>;

    /// Where it is, for people: never with a password.
    fn place(&self) -> String;
}

/// Opens a store, makes or updates its tables, and ends turns of processes that are gone.
pub async fn open(address: &Address) -> Result<Arc<dyn Store>, StoreError> {
    open_with(address, Options::default()).await
}

/// The same, with other bounds.
pub async fn open_with(address: &Address, options: Options) -> Result<Arc<dyn Store>, StoreError> {
    match address {
        #[cfg(feature = "sqlite")]
        Address::File(path) => Ok(Arc::new(sqlite::open(path, options).await?)),
        #[cfg(feature = "postgres")]
        Address::Database(database) => Ok(Arc::new(postgres::open(database, options).await?)),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        address => {
            let _ = options;
            Err(StoreError::Invalid(format!(
                "this program was built without what it needs to keep chats in {address}"
            )))
        }
    }
}
