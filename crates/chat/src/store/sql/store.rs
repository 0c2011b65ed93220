//! The store implementation for any driver.

use std::sync::Arc;

use async_trait::async_trait;
use prowess_config::ChatFileLimits;
use prowess_sandbox::ConsentAnswer;

use super::super::files::{file_not_found, parse_path};
use super::super::limits::{check_attachments, check_name, check_names, check_text, check_title, is_id};
use super::super::notifications::{Announcements, StoreNotice, Subscription, Topic};
use super::super::transfer::ExportedChat;
use super::super::{
    CHATS_MAX, Chat, ChatFile, ChatPage, EventPage, FileChanges, FoundChat, ListingChange, MessagePage,
    NewChat, NumberedEvent, QuestionState, SkillUse, Store, StoreError, StoredBranch, StoredTurn,
    TurnOutcome, UserMessage, to_stored_event,
};
use super::branches::Replaced;
use super::{
    BackgroundTasks, Durability, SqlDriver, branches, chats, events, files, messages, questions, search,
    skill_uses, transaction, turns,
};
use crate::{ConsentQuestion, Message, Role, TurnEvent};

/// A store in a SQL database.
pub(crate) struct SqlStore<D> {
    driver: Arc<D>,
    _tasks: BackgroundTasks,
}

impl<D: SqlDriver> SqlStore<D> {
    pub(crate) fn new(driver: Arc<D>, tasks: BackgroundTasks) -> Self {
        Self { driver, _tasks: tasks }
    }

    fn notify(&self, notice: StoreNotice) {
        notify(&*self.driver, notice);
    }

    async fn list(&self, archived: bool, after: Option<&str>, limit: usize) -> Result<ChatPage, StoreError> {
        let after = after.map_or_else(|| Ok(chats::Cursor::start()), chats::parse_cursor)?;
        self.driver.read(transaction(move |tx| Box::pin(chats::list(tx, archived, after, limit)))).await
    }
}

/// Notifies subscribers in this process, then other processes.
fn notify<D: SqlDriver>(driver: &D, notice: StoreNotice) {
    driver.hub().publish(&notice);
    driver.notify(notice);
}

/// Ends turns of processes that have exited.
pub(crate) async fn sweep<D: SqlDriver>(driver: &D) -> Result<Vec<String>, StoreError> {
    // Usually there is nothing to do, and then nothing is locked.
    if driver.read(transaction(|tx| Box::pin(turns::owners(tx)))).await?.is_empty() {
        return Ok(vec![]);
    }
    let ended = driver.write(Durability::MachineCrash, transaction(|tx| Box::pin(turns::sweep(tx)))).await?;
    let chats = ended.iter().map(|(chat, _)| chat.clone()).collect();
    ended.into_iter().for_each(|(chat, seq)| notify(driver, StoreNotice::Events(chat, seq)));
    Ok(chats)
}

#[async_trait]
impl<D: SqlDriver> Store for SqlStore<D> {
    async fn create_chat(&self, new: NewChat) -> Result<Chat, StoreError> {
        check_title(&new.title)?;
        check_name("the preset", &new.preset)?;
        let chat = self
            .driver
            .write(Durability::MachineCrash, transaction(|tx| Box::pin(chats::create(tx, new))))
            .await?;
        self.notify(StoreNotice::Topic(Topic::Chats));
        Ok(chat)
    }

    async fn chats(&self, after: Option<&str>, limit: usize) -> Result<ChatPage, StoreError> {
        self.list(false, after, limit).await
    }

    async fn archived_chats(&self, after: Option<&str>, limit: usize) -> Result<ChatPage, StoreError> {
        self.list(true, after, limit).await
    }

    async fn search(&self, text: &str, limit: usize) -> Result<Vec<FoundChat>, StoreError> {
        let (text, limit) = (text.to_owned(), limit.clamp(1, CHATS_MAX));
        self.driver.read(transaction(move |tx| Box::pin(search::find(tx, text, limit)))).await
    }

    async fn chat_ids(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, StoreError> {
        let after = after.filter(|after| is_id(after)).unwrap_or_default().to_owned();
        self.driver.read(transaction(move |tx| Box::pin(chats::ids(tx, after, limit)))).await
    }

    async fn chat_count(&self) -> Result<u64, StoreError> {
        self.driver.read(transaction(|tx| Box::pin(chats::count(tx)))).await
    }

    async fn chat(&self, chat: &str) -> Result<Chat, StoreError> {
        let chat = checked_id(chat)?;
        self.driver.read(transaction(|tx| Box::pin(chats::get(tx, chat)))).await
    }

    async fn messages(
        &self,
        chat: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<MessagePage, StoreError> {
        let chat = checked_id(chat)?;
        self.driver.read(transaction(move |tx| Box::pin(messages::page(tx, chat, before, limit)))).await
    }

    async fn rename_chat(&self, chat: &str, title: &str) -> Result<(), StoreError> {
        check_title(title)?;
        let (chat, title) = (checked_id(chat)?, title.to_owned());
        self.driver
            .write(Durability::MachineCrash, transaction(|tx| Box::pin(chats::rename(tx, chat, title))))
            .await?;
        self.notify(StoreNotice::Topic(Topic::Chats));
        Ok(())
    }

    async fn change_listing(&self, chat: &str, change: ListingChange) -> Result<(), StoreError> {
        let id = checked_id(chat)?;
        let body = transaction(move |tx| Box::pin(chats::change_listing(tx, id, change)));
        self.driver.write(Durability::MachineCrash, body).await?;
        self.notify(StoreNotice::Topic(Topic::Chats));
        Ok(())
    }

    async fn delete_chat(&self, chat: &str) -> Result<(), StoreError> {
        let id = checked_id(chat)?;
        let seq = self
            .driver
            .write(Durability::MachineCrash, transaction(|tx| Box::pin(chats::delete(tx, id))))
            .await?;
        self.driver.purge_deleted().await;
        // Followers read the chat again and see that it was deleted.
        self.notify(StoreNotice::Events(chat.to_owned(), seq + 1));
        self.notify(StoreNotice::Topic(Topic::Chats));
        Ok(())
    }

    async fn add_user_message(&self, chat: &str, text: &str) -> Result<Message, StoreError> {
        check_text(text)?;
        let (chat, text) = (checked_id(chat)?, text.to_owned());
        self.driver
            .write(
                Durability::MachineCrash,
                transaction(|tx| Box::pin(messages::insert_user_message(tx, chat, text, vec![]))),
            )
            .await
    }

    async fn begin_turn(&self, chat: &str) -> Result<StoredTurn, StoreError> {
        let (chat, owner) = (checked_id(chat)?, self.driver.owner().to_owned());
        self.driver
            .write(Durability::MachineCrash, transaction(|tx| Box::pin(turns::begin(tx, chat, owner))))
            .await
    }

    async fn ask(&self, chat: &str, message: UserMessage<'_>) -> Result<(Message, StoredTurn), StoreError> {
        check_text(message.text)?;
        let (chat, text, owner) =
            (checked_id(chat)?, message.text.to_owned(), self.driver.owner().to_owned());
        let attached = check_attachments(message.files)?;
        let body = transaction(|tx| {
            Box::pin(async move {
                let message = messages::insert_user_message(tx, chat.clone(), text, attached).await?;
                Ok((message, turns::begin(tx, chat, owner).await?))
            })
        });
        self.driver.write(Durability::MachineCrash, body).await
    }

    async fn replace_question(
        &self,
        chat: &str,
        message: UserMessage<'_>,
        replaced: &str,
    ) -> Result<(Message, StoredTurn), StoreError> {
        check_text(message.text)?;
        let (chat, text, owner) =
            (checked_id(chat)?, message.text.to_owned(), self.driver.owner().to_owned());
        let (attached, replaced) = (check_attachments(message.files)?, replaced.to_owned());
        let body = transaction(|tx| {
            Box::pin(async move {
                let (_, position) = branches::fork(tx, &chat, Replaced::Question(&replaced)).await?;
                let message = messages::insert_user_message(tx, chat.clone(), text, attached).await?;
                branches::add(tx, &chat, position, &message.id).await?;
                Ok((message, turns::begin(tx, chat, owner).await?))
            })
        });
        self.driver.write(Durability::MachineCrash, body).await
    }

    async fn regenerate(&self, chat: &str, reply: &str) -> Result<(Message, StoredTurn), StoreError> {
        let (chat, owner, reply) = (checked_id(chat)?, self.driver.owner().to_owned(), reply.to_owned());
        let body = transaction(|tx| {
            Box::pin(async move {
                let (before, position) = branches::fork(tx, &chat, Replaced::Reply(&reply)).await?;
                let Some(question) = before.filter(|before| before.role == Role::User) else {
                    return Err(StoreError::Invalid("this reply does not answer a message".to_owned()));
                };
                let turn = turns::begin(tx, chat.clone(), owner).await?;
                branches::add(tx, &chat, position, &turn.message).await?;
                Ok((question, turn))
            })
        });
        self.driver.write(Durability::MachineCrash, body).await
    }

    async fn switch_version(&self, chat: &str, message: &str) -> Result<(), StoreError> {
        let (id, message) = (checked_id(chat)?, message.to_owned());
        let body = transaction(move |tx| Box::pin(branches::switch(tx, id, message)));
        let seq = self.driver.write(Durability::MachineCrash, body).await?;
        self.notify(StoreNotice::Events(chat.to_owned(), seq));
        Ok(())
    }

    async fn branches(&self, chat: &str) -> Result<Vec<StoredBranch>, StoreError> {
        let chat = checked_id(chat)?;
        self.driver.read(transaction(|tx| Box::pin(branches::all(tx, chat)))).await
    }

    async fn delete_message(&self, chat: &str, message: &str) -> Result<(), StoreError> {
        let (id, message) = (checked_id(chat)?, message.to_owned());
        let body = transaction(move |tx| Box::pin(branches::delete_message(tx, id, message)));
        let seq = self.driver.write(Durability::MachineCrash, body).await?;
        self.driver.purge_deleted().await;
        self.notify(StoreNotice::Events(chat.to_owned(), seq));
        Ok(())
    }

    async fn delete_summary(&self, chat: &str, message: &str) -> Result<bool, StoreError> {
        let (chat, message) = (checked_id(chat)?, message.to_owned());
        let body = transaction(|tx| Box::pin(messages::delete_summary(tx, chat, message)));
        self.driver.write(Durability::MachineCrash, body).await
    }

    async fn append_events(
        &self,
        turn: &StoredTurn,
        from: u64,
        events: &[TurnEvent],
    ) -> Result<(), StoreError> {
        let target = turn.clone();
        let events = events.iter().cloned().map(to_stored_event).collect();
        let last = self
            .driver
            .write(
                Durability::ProcessCrash,
                transaction(move |tx| Box::pin(turns::append(tx, target, from, events))),
            )
            .await?;
        self.notify(StoreNotice::Events(turn.chat.clone(), last));
        Ok(())
    }

    async fn end(
        &self,
        turn: &StoredTurn,
        from: u64,
        outcome: &TurnOutcome,
    ) -> Result<NumberedEvent, StoreError> {
        let (target, outcome) = (turn.clone(), outcome.clone());
        let last = self
            .driver
            .write(
                Durability::MachineCrash,
                transaction(move |tx| Box::pin(turns::end(tx, target, from, outcome))),
            )
            .await?;
        self.notify(StoreNotice::Events(turn.chat.clone(), last.seq));
        Ok(last)
    }

    async fn stop_turn(&self, chat: &str, outcome: &TurnOutcome) -> Result<bool, StoreError> {
        let (id, outcome) = (checked_id(chat)?, outcome.clone());
        let last = self
            .driver
            .write(Durability::MachineCrash, transaction(|tx| Box::pin(turns::stop(tx, id, outcome))))
            .await?;
        if let Some(seq) = last {
            self.notify(StoreNotice::Events(chat.to_owned(), seq));
        }
        Ok(last.is_some())
    }

    async fn end_abandoned_turns(&self) -> Result<Vec<String>, StoreError> {
        sweep(&*self.driver).await
    }

    async fn events_after(&self, chat: &str, after: u64) -> Result<EventPage, StoreError> {
        let chat = checked_id(chat)?;
        self.driver.read(transaction(move |tx| Box::pin(events::after(tx, chat, after)))).await
    }

    fn subscribe(&self, chat: &str) -> Subscription {
        self.driver.hub().subscribe(chat)
    }

    fn announce(&self, topic: Topic) {
        self.notify(StoreNotice::Topic(topic));
    }

    fn announcements(&self) -> Announcements {
        self.driver.hub().announcements()
    }

    async fn set_skills(&self, chat: &str, names: &[String]) -> Result<(), StoreError> {
        let (chat, names) = (checked_id(chat)?, check_names(names)?);
        self.driver
            .write(Durability::MachineCrash, transaction(|tx| Box::pin(chats::set_skills(tx, chat, names))))
            .await
    }

    async fn set_turn_skills(&self, turn: &StoredTurn, names: &[String]) -> Result<(), StoreError> {
        let (turn, names) = (turn.clone(), check_names(names)?);
        self.driver
            .write(Durability::MachineCrash, transaction(|tx| Box::pin(turns::set_skills(tx, turn, names))))
            .await
    }

    async fn record_skill_uses(&self, names: &[String]) -> Result<(), StoreError> {
        let names = check_names(names)?;
        self.driver
            .write(Durability::ProcessCrash, transaction(|tx| Box::pin(skill_uses::record(tx, names))))
            .await
    }

    async fn skill_uses(&self) -> Result<Vec<SkillUse>, StoreError> {
        self.driver.read(transaction(|tx| Box::pin(skill_uses::all(tx)))).await
    }

    async fn add_chats(&self, chats: Vec<ExportedChat>) -> Result<Vec<String>, StoreError> {
        let chats =
            chats.into_iter().map(super::super::transfer::check_chat).collect::<Result<Vec<_>, _>>()?;
        let body = transaction(|tx| {
            Box::pin(async move {
                let mut ids = Vec::with_capacity(chats.len());
                for chat in chats {
                    ids.push(messages::add_exported_chat(tx, chat).await?);
                }
                Ok(ids)
            })
        });
        let ids = self.driver.write(Durability::MachineCrash, body).await?;
        self.notify(StoreNotice::Topic(Topic::Chats));
        Ok(ids)
    }

    async fn files(&self, chat: &str) -> Result<Vec<ChatFile>, StoreError> {
        let chat = checked_id(chat)?;
        self.driver.read(transaction(|tx| Box::pin(files::list(tx, chat)))).await
    }

    async fn file(&self, chat: &str, path: &str) -> Result<ChatFile, StoreError> {
        let (chat, path) = (checked_id(chat)?, checked_path(path)?);
        self.driver.read(transaction(|tx| Box::pin(files::get(tx, chat, path)))).await
    }

    async fn read_file(&self, chat: &str, path: &str) -> Result<(ChatFile, Vec<u8>), StoreError> {
        let (chat, path) = (checked_id(chat)?, checked_path(path)?);
        self.driver.read(transaction(|tx| Box::pin(files::read(tx, chat, path)))).await
    }

    async fn change_files(
        &self,
        chat: &str,
        changes: FileChanges,
        limits: ChatFileLimits,
    ) -> Result<Vec<ChatFile>, StoreError> {
        let (chat, removes) = (checked_id(chat)?, !changes.removed.is_empty());
        let body = transaction(move |tx| Box::pin(files::change(tx, chat, changes, limits)));
        let written = self.driver.write(Durability::MachineCrash, body).await?;
        if removes {
            self.driver.purge_deleted().await;
        }
        Ok(written)
    }

    async fn open_question(
        &self,
        turn: &StoredTurn,
        question: &ConsentQuestion,
    ) -> Result<String, StoreError> {
        let (turn, question) = (turn.clone(), question.clone());
        let body = transaction(move |tx| Box::pin(questions::open(tx, turn, question)));
        self.driver.write(Durability::ProcessCrash, body).await
    }

    async fn question(&self, chat: &str) -> Result<Option<ConsentQuestion>, StoreError> {
        let chat = checked_id(chat)?;
        self.driver.read(transaction(|tx| Box::pin(questions::get(tx, chat)))).await
    }

    async fn answer_question(
        &self,
        chat: &str,
        question: &str,
        answer: ConsentAnswer,
    ) -> Result<bool, StoreError> {
        let id = checked_id(chat)?;
        if !is_id(question) {
            return Ok(false);
        }
        let question = question.to_owned();
        let body = transaction(move |tx| Box::pin(questions::answer(tx, id, question, answer)));
        let answered = self.driver.write(Durability::ProcessCrash, body).await?;
        if answered {
            self.notify(StoreNotice::Answer(chat.to_owned()));
        }
        Ok(answered)
    }

    async fn question_state(&self, chat: &str, question: &str) -> Result<QuestionState, StoreError> {
        let (chat, question) = (checked_id(chat)?, checked_id(question)?);
        self.driver.read(transaction(|tx| Box::pin(questions::state(tx, chat, question)))).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        if !self.driver.has_room() {
            return Err(StoreError::Full);
        }
        if self.driver.is_full() {
            // Only a write shows whether there is room again.
            let no_op = "UPDATE prowess_schema SET version = version";
            let write =
                transaction(move |tx| Box::pin(async move { tx.execute(no_op, vec![]).await.map(drop) }));
            return self.driver.write(Durability::ProcessCrash, write).await;
        }
        self.driver.read(transaction(|tx| Box::pin(super::schema::version(tx)))).await.map(drop)
    }

    fn location(&self) -> String {
        self.driver.location()
    }
}

/// Returns the path if it is valid; no file has another one.
fn checked_path(path: &str) -> Result<String, StoreError> {
    parse_path(path).map(|path| path.as_str().to_owned()).map_err(|_| file_not_found(path))
}

/// Returns the id if it is valid; other ids are never looked up.
fn checked_id(chat: &str) -> Result<String, StoreError> {
    if is_id(chat) { Ok(chat.to_owned()) } else { Err(StoreError::ChatNotFound) }
}
