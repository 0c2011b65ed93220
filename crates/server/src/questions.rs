//! Asks about scripts during turns of this process.
//!
//! A question is stored, so that every tab on every server shows it and can answer it; this process waits for the answer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prowess_chat::ConsentQuestion;
use prowess_chat::store::{QuestionState, Store, StoredTurn};
use prowess_chat::turn::ConsentSource;
use prowess_sandbox::{AccessSummary, ConsentAnswer};
use tokio::time::{Instant, timeout};

/// How long a question waits for an answer. Then the script does not run, so that no turn waits forever.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How often the store is polled without a notification: it may be lost, and processes on one SQLite file send none.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Asks the users of a chat.
pub(crate) struct ChatConsent {
    store: Arc<dyn Store>,
    turn: StoredTurn,
    timeout: Duration,
}

impl ChatConsent {
    pub(crate) fn connect(store: &Arc<dyn Store>, turn: &StoredTurn) -> Arc<dyn ConsentSource> {
        Arc::new(Self { store: Arc::clone(store), turn: turn.clone(), timeout: ANSWER_TIMEOUT })
    }
}

#[async_trait]
impl ConsentSource for ChatConsent {
    async fn open(&self, question: &ConsentQuestion) -> Option<String> {
        let opened = self.store.open_question(&self.turn, question).await;
        opened.inspect_err(|error| tracing::warn!(%error, "cannot store a question about a script")).ok()
    }

    async fn answer(&self, question: &ConsentQuestion, _: &AccessSummary) -> ConsentAnswer {
        // Nobody can answer a question that is not stored.
        let Some(id) = &question.question else { return ConsentAnswer::NotNow };
        let (store, chat) = (&self.store, self.turn.chat.as_str());
        let mut changes = store.subscribe(chat);
        let deadline = Instant::now() + self.timeout;
        loop {
            match store.question_state(chat, id).await {
                Ok(QuestionState::Answered(answer)) => return answer,
                Ok(QuestionState::Gone) => return ConsentAnswer::NotNow,
                // A store that does not respond may have the answer later.
                Ok(QuestionState::Open) | Err(_) => {}
            }
            // An answer that comes first counts.
            if Instant::now() >= deadline
                && store.answer_question(chat, id, ConsentAnswer::NotNow).await == Ok(true)
            {
                return ConsentAnswer::NotNow;
            }
            let _ = timeout(POLL_INTERVAL, changes.changed()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess_chat::store::{StoreAddress, UserMessage, open};

    fn access() -> AccessSummary {
        let text = |text: &str| text.to_owned();
        AccessSummary {
            skill: text("s"),
            location: text("~/s"),
            script: text("a.sh"),
            rows: vec![],
            tree: text("t"),
        }
    }

    fn question() -> ConsentQuestion {
        let text = |text: &str| text.to_owned();
        ConsentQuestion {
            id: text("c1"),
            question: None,
            skill: text("s"),
            script: text("a.sh"),
            access: vec![],
        }
    }

    #[tokio::test]
    async fn a_question_without_an_answer_ends_as_a_refusal() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&StoreAddress::File(dir.path().join("chats.sqlite3"))).await.unwrap();
        let chat = store.create_chat(Default::default()).await.unwrap();
        let (_, turn) = store.ask(&chat.id, UserMessage::from("Run it.")).await.unwrap();
        let consent = ChatConsent { store: Arc::clone(&store), turn, timeout: Duration::ZERO };
        assert_eq!(consent.answer(&question(), &access()).await, ConsentAnswer::NotNow, "it is not stored");
        let id = consent.open(&question()).await;
        let stored = ConsentQuestion { question: id.clone(), ..question() };
        assert_eq!(store.question(&chat.id).await.unwrap(), Some(stored.clone()));
        assert_eq!(consent.answer(&stored, &access()).await, ConsentAnswer::NotNow);
        assert_eq!(store.question(&chat.id).await.unwrap(), None, "it cannot be answered any more");
        let late = store.answer_question(&chat.id, &id.unwrap(), ConsentAnswer::Once).await;
        assert_eq!(late, Ok(false));
    }
}
