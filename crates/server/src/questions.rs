//! Open questions of chats about scripts.
//!
//! A question belongs to a turn of this process. It is also an event of the chat, so that every tab shows it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use prowess_chat::AccessRow;
use prowess_chat::turn::ConsentSource;
use prowess_sandbox::{AccessSummary, ConsentAnswer};
use serde::Serialize;
use tokio::sync::oneshot;
use utoipa::ToSchema;

/// A question whether a script may run.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ConsentQuestion)]
pub(crate) struct ConsentQuestion {
    /// The id of the tool call.
    id: String,
    /// The skill.
    skill: String,
    /// The script.
    script: String,
    /// What the script may access, as `title` and `text`.
    #[schema(value_type = Vec<Object>)]
    access: Vec<AccessRow>,
}

/// The open questions of the turns of this process. A chat has at most one turn, and a turn at most one question.
#[derive(Default)]
pub(crate) struct OpenQuestions(Mutex<HashMap<String, OpenQuestion>>);

struct OpenQuestion {
    question: ConsentQuestion,
    answer: oneshot::Sender<ConsentAnswer>,
}

impl OpenQuestions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, OpenQuestion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open question of a chat.
    pub(crate) fn get(&self, chat: &str) -> Option<ConsentQuestion> {
        self.lock().get(chat).map(|open| open.question.clone())
    }

    /// Answers a question. Returns `false` if it is not open.
    pub(crate) fn answer(&self, chat: &str, call: &str, answer: ConsentAnswer) -> bool {
        let mut open = self.lock();
        if open.get(chat).is_none_or(|open| open.question.id != call) {
            return false;
        }
        open.remove(chat).is_some_and(|open| open.answer.send(answer).is_ok())
    }
}

/// Asks the users of a chat.
pub(crate) struct ChatConsent {
    chat: String,
    open: Arc<OpenQuestions>,
}

impl ChatConsent {
    pub(crate) fn connect(chat: &str, open: &Arc<OpenQuestions>) -> Arc<dyn ConsentSource> {
        Arc::new(Self { chat: chat.to_owned(), open: Arc::clone(open) })
    }
}

/// Removes a question that was not answered, because its turn ended.
struct RemoveOnDrop<'a>(&'a ChatConsent);

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        self.0.open.lock().remove(&self.0.chat);
    }
}

#[async_trait]
impl ConsentSource for ChatConsent {
    async fn answer(&self, call: &str, access: &AccessSummary) -> ConsentAnswer {
        let (sender, receiver) = oneshot::channel();
        let row = |(title, text): &(&'static str, String)| AccessRow {
            title: (*title).to_owned(),
            text: text.clone(),
        };
        let question = ConsentQuestion {
            id: call.to_owned(),
            skill: access.skill.clone(),
            script: access.script.clone(),
            access: access.rows.iter().map(row).collect(),
        };
        self.open.lock().insert(self.chat.clone(), OpenQuestion { question, answer: sender });
        let _remove = RemoveOnDrop(self);
        receiver.await.unwrap_or(ConsentAnswer::NotNow)
    }
}
