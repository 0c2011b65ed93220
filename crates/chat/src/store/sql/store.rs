//! The store itself, over any of the databases.

use std::sync::Arc;

use async_trait::async_trait;

use super::super::hub::{Announcements, Notice, Subscription, Topic};
use super::super::limits::{check_name, check_names, check_text, check_title, is_id};
use super::super::transfer::Record;
use super::super::{
    Chat, ChatPage, Ending, Events, MessagePage, NewChat, Numbered, SkillUse, Store, StoreError, Turn, kept,
};
use super::{Care, Driver, Tasks, chats, events, messages, turns, uses, work};
use crate::{Event, Message};

/// A store in SQL.
pub(crate) struct Sql<D> {
    driver: Arc<D>,
    _tasks: Tasks,
}

impl<D: Driver> Sql<D> {
    pub(crate) fn new(driver: Arc<D>, tasks: Tasks) -> Self {
        Self { driver, _tasks: tasks }
    }

    fn tell(&self, notice: Notice) {
        tell(&*self.driver, notice);
    }
}

/// Tells those who wait here, then the others.
fn tell<D: Driver>(driver: &D, notice: Notice) {
    driver.hub().notice(&notice);
    driver.tell(notice);
}

/// Ends turns of processes that are gone.
pub(crate) async fn sweep<D: Driver>(driver: &D) -> Result<Vec<String>, StoreError> {
    // Nearly always there is nothing to do, and then nothing is locked.
    if driver.read(work(|tx| Box::pin(turns::owners(tx)))).await?.is_empty() {
        return Ok(vec![]);
    }
    let ended = driver.write(Care::Machine, work(|tx| Box::pin(turns::sweep(tx)))).await?;
    let chats = ended.iter().map(|(chat, _)| chat.clone()).collect();
    ended.into_iter().for_each(|(chat, seq)| tell(driver, Notice::Events(chat, seq)));
    Ok(chats)
}

#[async_trait]
impl<D: Driver> Store for Sql<D> {
    async fn create_chat(&self, new: NewChat) -> Result<Chat, StoreError> {
        check_title(&new.title)?;
        check_name("the preset", &new.preset)?;
        let chat = self.driver.write(Care::Machine, work(|tx| Box::pin(chats::create(tx, new)))).await?;
        self.tell(Notice::Topic(Topic::Chats));
        Ok(chat)
    }

    async fn chats(&self, after: Option<&str>, most: usize) -> Result<ChatPage, StoreError> {
        let after = after.map(chats::cursor).transpose()?;
        self.driver.read(work(move |tx| Box::pin(chats::list(tx, after, most)))).await
    }

    async fn chat_ids(&self, after: Option<&str>, most: usize) -> Result<Vec<String>, StoreError> {
        let after = after.filter(|after| is_id(after)).unwrap_or_default().to_owned();
        self.driver.read(work(move |tx| Box::pin(chats::ids(tx, after, most)))).await
    }

    async fn chat_count(&self) -> Result<u64, StoreError> {
        self.driver.read(work(|tx| Box::pin(chats::count(tx)))).await
    }

    async fn chat(&self, chat: &str) -> Result<Chat, StoreError> {
        let chat = known(chat)?;
        self.driver.read(work(|tx| Box::pin(chats::one(tx, chat)))).await
    }

    async fn messages(
        &self,
        chat: &str,
        before: Option<u64>,
        most: usize,
    ) -> Result<MessagePage, StoreError> {
        let chat = known(chat)?;
        self.driver.read(work(move |tx| Box::pin(messages::page(tx, chat, before, most)))).await
    }

    async fn rename_chat(&self, chat: &str, title: &str) -> Result<(), StoreError> {
        check_title(title)?;
        let (chat, title) = (known(chat)?, title.to_owned());
        self.driver.write(Care::Machine, work(|tx| Box::pin(chats::rename(tx, chat, title)))).await?;
        self.tell(Notice::Topic(Topic::Chats));
        Ok(())
    }

    async fn delete_chat(&self, chat: &str) -> Result<(), StoreError> {
        let id = known(chat)?;
        let seq = self.driver.write(Care::Machine, work(|tx| Box::pin(chats::delete(tx, id)))).await?;
        self.driver.wipe().await;
        // Those who follow it look once more, and see that it is gone.
        self.tell(Notice::Events(chat.to_owned(), seq + 1));
        self.tell(Notice::Topic(Topic::Chats));
        Ok(())
    }

    async fn say(&self, chat: &str, text: &str) -> Result<Message, StoreError> {
        check_text(text)?;
        let (chat, text) = (known(chat)?, text.to_owned());
        self.driver.write(Care::Machine, work(|tx| Box::pin(messages::say(tx, chat, text)))).await
    }

    async fn begin(&self, chat: &str) -> Result<Turn, StoreError> {
        let (chat, owner) = (known(chat)?, self.driver.owner().to_owned());
        self.driver.write(Care::Machine, work(|tx| Box::pin(turns::begin(tx, chat, owner)))).await
    }

    async fn ask(&self, chat: &str, text: &str) -> Result<(Message, Turn), StoreError> {
        check_text(text)?;
        let (chat, text, owner) = (known(chat)?, text.to_owned(), self.driver.owner().to_owned());
        let both = work(|tx| {
            Box::pin(async move {
                let message = messages::say(tx, chat.clone(), text).await?;
                Ok((message, turns::begin(tx, chat, owner).await?))
            })
        });
        self.driver.write(Care::Machine, both).await
    }

    async fn ask_instead(
        &self,
        chat: &str,
        text: &str,
        message: &str,
    ) -> Result<(Message, Turn), StoreError> {
        check_text(text)?;
        let (chat, text, owner) = (known(chat)?, text.to_owned(), self.driver.owner().to_owned());
        let replaced = message.to_owned();
        let all = work(|tx| {
            Box::pin(async move {
                messages::take_back(tx, &chat, &replaced).await?;
                let message = messages::say(tx, chat.clone(), text).await?;
                Ok((message, turns::begin(tx, chat, owner).await?))
            })
        });
        let asked = self.driver.write(Care::Machine, all).await?;
        self.driver.wipe().await;
        Ok(asked)
    }

    async fn append(&self, turn: &Turn, from: u64, events: &[Event]) -> Result<(), StoreError> {
        let of = turn.clone();
        let events = events.iter().cloned().map(kept).collect();
        let last = self
            .driver
            .write(Care::Process, work(move |tx| Box::pin(turns::append(tx, of, from, events))))
            .await?;
        self.tell(Notice::Events(turn.chat.clone(), last));
        Ok(())
    }

    async fn end(&self, turn: &Turn, from: u64, ending: &Ending) -> Result<Numbered, StoreError> {
        let (of, ending) = (turn.clone(), ending.clone());
        let last = self
            .driver
            .write(Care::Machine, work(move |tx| Box::pin(turns::end(tx, of, from, ending))))
            .await?;
        self.tell(Notice::Events(turn.chat.clone(), last.seq));
        Ok(last)
    }

    async fn stop(&self, chat: &str, ending: &Ending) -> Result<bool, StoreError> {
        let (id, ending) = (known(chat)?, ending.clone());
        let last = self.driver.write(Care::Machine, work(|tx| Box::pin(turns::stop(tx, id, ending)))).await?;
        if let Some(seq) = last {
            self.tell(Notice::Events(chat.to_owned(), seq));
        }
        Ok(last.is_some())
    }

    async fn sweep(&self) -> Result<Vec<String>, StoreError> {
        sweep(&*self.driver).await
    }

    async fn events_after(&self, chat: &str, after: u64) -> Result<Events, StoreError> {
        let chat = known(chat)?;
        self.driver.read(work(move |tx| Box::pin(events::after(tx, chat, after)))).await
    }

    fn subscribe(&self, chat: &str) -> Subscription {
        self.driver.hub().subscribe(chat)
    }

    fn announce(&self, topic: Topic) {
        self.tell(Notice::Topic(topic));
    }

    fn announcements(&self) -> Announcements {
        self.driver.hub().announcements()
    }

    async fn set_skills(&self, chat: &str, names: &[String]) -> Result<(), StoreError> {
        let (chat, names) = (known(chat)?, check_names(names)?);
        self.driver.write(Care::Machine, work(|tx| Box::pin(chats::set_skills(tx, chat, names)))).await
    }

    async fn note_uses(&self, names: &[String]) -> Result<(), StoreError> {
        let names = check_names(names)?;
        self.driver.write(Care::Process, work(|tx| Box::pin(uses::note(tx, names)))).await
    }

    async fn skill_uses(&self) -> Result<Vec<SkillUse>, StoreError> {
        self.driver.read(work(|tx| Box::pin(uses::all(tx)))).await
    }

    async fn add_chats(&self, chats: Vec<Record>) -> Result<Vec<String>, StoreError> {
        let chats = chats.into_iter().map(super::super::transfer::checked).collect::<Result<Vec<_>, _>>()?;
        let all = work(|tx| {
            Box::pin(async move {
                let mut ids = Vec::with_capacity(chats.len());
                for chat in chats {
                    ids.push(messages::add_record(tx, chat).await?);
                }
                Ok(ids)
            })
        });
        let ids = self.driver.write(Care::Machine, all).await?;
        self.tell(Notice::Topic(Topic::Chats));
        Ok(ids)
    }

    async fn check(&self) -> Result<(), StoreError> {
        if !self.driver.has_room() {
            return Err(StoreError::Full);
        }
        if self.driver.is_full() {
            // Whether there is room again is known only by writing.
            let same = "UPDATE prowess_schema SET version = version";
            let write = work(move |tx| Box::pin(async move { tx.execute(same, vec![]).await.map(drop) }));
            return self.driver.write(Care::Process, write).await;
        }
        self.driver.read(work(|tx| Box::pin(super::schema::version(tx)))).await.map(drop)
    }

    fn place(&self) -> String {
        self.driver.place()
    }
}

/// What cannot be the id of a chat is looked up nowhere.
fn known(chat: &str) -> Result<String, StoreError> {
    if is_id(chat) { Ok(chat.to_owned()) } else { Err(StoreError::NoChat) }
}
