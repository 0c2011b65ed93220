//! Chat storage: in a SQLite file, or in PostgreSQL for several servers.
//!
//! Invariants:
//! - Messages are stored as they are written: after a process is killed, the chat is readable, and the message is marked
//!   as interrupted.
//! - Only one reply is written in a chat at a time, and only by the process that started it while that process runs.
//! - The bodies of skills are never stored, only their digests; neither are secrets of the configuration.
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use prowess_chat::{EndReason, TurnEvent, TurnOutcome};
//! use prowess_chat::store::{NewChat, StoreAddress, TurnWriter};
//!
//! let dir = tempfile::tempdir()?;
//! let store = prowess_chat::store::open(&StoreAddress::File(dir.path().join("chats.sqlite3"))).await?;
//! let chat = store.create_chat(NewChat::default()).await?;
//! let (question, turn) = store.ask(&chat.id, "What is in this file?".into()).await?;
//! let mut writer = TurnWriter::new(store.clone(), turn);
//! writer.push(TurnEvent::Delta { text: "A table.".to_owned() }).await?;
//! writer.end(TurnOutcome::finished(EndReason::Finished, None)).await?;
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
mod files;
mod follow;
mod limits;
mod media_type;
mod notifications;
#[cfg(feature = "postgres")]
mod postgres;
mod questions;
mod recorder;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stored_event;
pub mod transfer;
mod turn;
mod words;
mod workspace;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prowess_config::ChatFileLimits;

pub use address::{FILE_NAME, PostgresAddress, StoreAddress};
pub use chat::{
    Chat, ChatPage, FoundChat, ListingChange, MessagePage, MessageVersions, NewChat, SkillUse, StoredBranch,
    UserMessage, to_skill_usage,
};
pub use error::StoreError;
pub use files::{ChatFile, FileChanges, FileOrigin, NewFile};
pub use follow::{ChatFollower, FollowedEvent};
pub use limits::{
    ATTACHMENTS_MAX, CHATS_MAX, MESSAGES_MAX, NAMES_MAX, STORED_MESSAGE_MAX, TITLE_MAX, VERSIONS_MAX,
};
pub use notifications::{Announcements, Subscription, Topic};
pub use questions::QuestionState;
pub use recorder::{ChatHistory, StartedTurn, StoreRecorder, TurnStart, derive_title};
pub use stored_event::{STRING_MAX, to_stored_event};
pub use turn::{EventPage, NumberedEvent, StoredTurn};
pub use workspace::ChatWorkspace;
pub use writer::TurnWriter;

use prowess_sandbox::ConsentAnswer;

use crate::{ConsentQuestion, Message, TurnEvent, TurnOutcome};

/// Timeouts and connection limits of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// How long to wait for another process that holds the SQLite file.
    pub busy_timeout: Duration,
    /// How long a process may be silent before its turns in PostgreSQL are ended. SQLite detects exited processes directly.
    /// Abandoned turns are looked for every third of this time.
    pub lease: Duration,
    /// The maximum number of connections to PostgreSQL, besides the one for notifications.
    pub connections: usize,
    /// The maximum duration of a call to PostgreSQL.
    pub call_timeout: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            lease: Duration::from_secs(15),
            connections: 8,
            call_timeout: Duration::from_secs(60),
        }
    }
}

/// A store of chats. All methods may be called from several tasks and processes at once.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Creates a chat.
    async fn create_chat(&self, new: NewChat) -> Result<Chat, StoreError>;

    /// Returns a page of chats, pinned ones first, then most recent first, at most [`CHATS_MAX`]. `after` is the `next` of
    /// the previous page.
    async fn chats(&self, after: Option<&str>, limit: usize) -> Result<ChatPage, StoreError>;

    /// Returns a page of archived chats, most recent first.
    async fn archived_chats(&self, after: Option<&str>, limit: usize) -> Result<ChatPage, StoreError>;

    /// Returns chats whose title or messages contain these words, most recent first.
    async fn search(&self, text: &str, limit: usize) -> Result<Vec<FoundChat>, StoreError>;

    /// Returns ids of chats after this one, in a stable order, to iterate over all chats.
    async fn chat_ids(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Returns the number of chats.
    async fn chat_count(&self) -> Result<u64, StoreError>;

    /// Returns a chat without its messages.
    async fn chat(&self, chat: &str) -> Result<Chat, StoreError>;

    /// Returns the latest messages of a chat, oldest first, or those just before a cursor of another page. At most
    /// [`MESSAGES_MAX`], and fewer if they are long.
    async fn messages(
        &self,
        chat: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<MessagePage, StoreError>;

    /// Changes the title of a chat.
    async fn rename_chat(&self, chat: &str, title: &str) -> Result<(), StoreError>;

    /// Changes how a chat is listed.
    async fn change_listing(&self, chat: &str, change: ListingChange) -> Result<(), StoreError>;

    /// Deletes a chat with everything in it. A turn in this chat fails at its next event.
    async fn delete_chat(&self, chat: &str) -> Result<(), StoreError>;

    /// Adds a message of the user.
    async fn add_user_message(&self, chat: &str, text: &str) -> Result<Message, StoreError>;

    /// Starts a reply, which is written with [`TurnWriter`]. Only one can be written in a chat at a time
    /// ([`StoreError::TurnInProgress`]); an abandoned one is ended first.
    async fn begin_turn(&self, chat: &str) -> Result<StoredTurn, StoreError>;

    /// [`add_user_message`](Store::add_user_message) and [`begin_turn`](Store::begin_turn) in one transaction.
    async fn ask(&self, chat: &str, message: UserMessage<'_>) -> Result<(Message, StoredTurn), StoreError>;

    /// [`ask`](Store::ask) that replaces a message of the user and everything after it, in one transaction. Skills that were
    /// activated only there are no longer active. What is replaced remains another version of the message.
    async fn replace_question(
        &self,
        chat: &str,
        message: UserMessage<'_>,
        replaced: &str,
    ) -> Result<(Message, StoredTurn), StoreError>;

    /// Deletes the summary in a message, so that the messages that it replaces count again. Returns `false` if there is none; an
    /// error while the message is being written.
    async fn delete_summary(&self, chat: &str, message: &str) -> Result<bool, StoreError>;

    /// Starts another version of a reply. Returns the message that it answers.
    async fn regenerate(&self, chat: &str, reply: &str) -> Result<(Message, StoredTurn), StoreError>;

    /// Makes another version of a message the active one, with everything that followed it.
    async fn switch_version(&self, chat: &str, message: &str) -> Result<(), StoreError>;

    /// Returns all versions of messages in a chat, for an export.
    async fn branches(&self, chat: &str) -> Result<Vec<StoredBranch>, StoreError>;

    /// Deletes a message. If nothing follows it, its latest other version becomes active.
    async fn delete_message(&self, chat: &str, message: &str) -> Result<(), StoreError>;

    /// Adds events to a turn, starting with the number `from`. Events that are already stored are skipped, so a call whose
    /// result is unknown can be repeated.
    async fn append_events(
        &self,
        turn: &StoredTurn,
        from: u64,
        events: &[TurnEvent],
    ) -> Result<(), StoreError>;

    /// Ends a turn with a last event that has the number `from`. The call can be repeated.
    async fn end(
        &self,
        turn: &StoredTurn,
        from: u64,
        outcome: &TurnOutcome,
    ) -> Result<NumberedEvent, StoreError>;

    /// Ends the turn in a chat, whichever process writes it. The writer fails at its next event. Returns `false` if there
    /// is no turn.
    async fn stop_turn(&self, chat: &str, outcome: &TurnOutcome) -> Result<bool, StoreError>;

    /// Ends turns whose processes have exited, marks their messages, and returns the chats. This also happens when a store
    /// is opened and periodically after that.
    async fn end_abandoned_turns(&self) -> Result<Vec<String>, StoreError>;

    /// Returns the events after this number. Events of the last two turns are available.
    async fn events_after(&self, chat: &str, after: u64) -> Result<EventPage, StoreError>;

    /// Subscribes to new events of a chat from all processes. See also [`ChatFollower`].
    fn subscribe(&self, chat: &str) -> Subscription;

    /// Announces a topic to all processes that use this store; with SQLite, only to this one.
    fn announce(&self, topic: Topic);

    /// Subscribes to announcements.
    fn announcements(&self) -> Announcements;

    /// Sets the active skills of a chat, by name and in this order.
    async fn set_skills(&self, chat: &str, names: &[String]) -> Result<(), StoreError>;

    /// Sets the active skills of a turn's chat, by name and in this order; an error if the turn has ended.
    async fn set_turn_skills(&self, turn: &StoredTurn, names: &[String]) -> Result<(), StoreError>;

    /// Counts one use of each of these skills.
    async fn record_skill_uses(&self, names: &[String]) -> Result<(), StoreError>;

    /// Returns how often and when skills were used, most recent first.
    async fn skill_uses(&self) -> Result<Vec<SkillUse>, StoreError>;

    /// Adds whole chats in one transaction and returns their ids. A chat whose id is taken gets a new one. See
    /// [`transfer::import`].
    async fn add_chats(&self, chats: Vec<transfer::ExportedChat>) -> Result<Vec<String>, StoreError>;

    /// Returns the files of a chat, sorted by path.
    async fn files(&self, chat: &str) -> Result<Vec<ChatFile>, StoreError>;

    /// Returns a file of a chat.
    async fn file(&self, chat: &str, path: &str) -> Result<ChatFile, StoreError>;

    /// Returns a file of a chat with its content.
    async fn read_file(&self, chat: &str, path: &str) -> Result<(ChatFile, Vec<u8>), StoreError>;

    /// Changes the files of a chat in one transaction, and returns the files that were written.
    async fn change_files(
        &self,
        chat: &str,
        changes: FileChanges,
        limits: ChatFileLimits,
    ) -> Result<Vec<ChatFile>, StoreError>;

    /// Opens a question of a turn under a new random id, which it returns. It takes the place of an earlier question of the
    /// chat, and is open until it has an answer or the turn ends.
    async fn open_question(
        &self,
        turn: &StoredTurn,
        question: &ConsentQuestion,
    ) -> Result<String, StoreError>;

    /// Returns the open question of a chat.
    async fn question(&self, chat: &str) -> Result<Option<ConsentQuestion>, StoreError>;

    /// Answers the open question with this id, and wakes the process that runs the turn. Returns `false` if it is not open:
    /// only the first answer counts.
    async fn answer_question(
        &self,
        chat: &str,
        question: &str,
        answer: ConsentAnswer,
    ) -> Result<bool, StoreError>;

    /// Returns the state of the question with this id.
    async fn question_state(&self, chat: &str, question: &str) -> Result<QuestionState, StoreError>;

    /// Checks that the database responds.
    async fn check(&self) -> Result<(), StoreError>;

    /// Returns the location for display, without a password.
    fn location(&self) -> String;
}

/// Opens a store, creates or migrates its tables, and ends abandoned turns.
pub async fn open(address: &StoreAddress) -> Result<Arc<dyn Store>, StoreError> {
    open_with(address, StoreOptions::default()).await
}

/// [`open`] with custom options.
pub async fn open_with(address: &StoreAddress, options: StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    match address {
        #[cfg(feature = "sqlite")]
        StoreAddress::File(path) => Ok(Arc::new(sqlite::open(path, options).await?)),
        #[cfg(feature = "postgres")]
        StoreAddress::Database(database) => Ok(Arc::new(postgres::open(database, options).await?)),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        address => {
            let _ = options;
            Err(StoreError::Invalid(format!(
                "this program was built without support for the chat store {address}"
            )))
        }
    }
}
