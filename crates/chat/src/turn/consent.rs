//! Asks the user about scripts during a turn.
//!
//! A tool call runs on its own thread, which waits for the answer. Questions of calls that run side by side are asked one at a time. The question is recorded first, so that every client that
//! follows the chat can show it.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use async_trait::async_trait;
use prowess_sandbox::{AccessSummary, ConsentAnswer};
use prowess_tools::Session;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::end::TurnError;
use super::journal::TurnJournal;
use crate::event::{AccessRow, ConsentQuestion, TurnEvent};

/// Gets the answers of the user about scripts.
#[async_trait]
pub trait ConsentSource: Send + Sync {
    /// Opens a question before it is recorded as [`TurnEvent::Consent`], so that it can be answered as soon as it is shown.
    /// Returns the id that an answer must name; `None` if clients that follow the chat cannot answer it.
    async fn open(&self, question: &ConsentQuestion) -> Option<String> {
        let _ = question;
        None
    }

    /// Returns the answer to a question that was opened and recorded. The future is dropped if the turn is cancelled.
    async fn answer(&self, question: &ConsentQuestion, access: &AccessSummary) -> ConsentAnswer;
}

/// A question of a tool call.
struct Question {
    /// The id of the tool call.
    call: String,
    access: AccessSummary,
    reply: SyncSender<ConsentAnswer>,
}

/// The questions of the tool calls of a turn.
pub(super) struct Questions {
    sender: mpsc::UnboundedSender<Question>,
    receiver: mpsc::UnboundedReceiver<Question>,
    source: Arc<dyn ConsentSource>,
}

impl Questions {
    /// Connects a session to the user.
    pub(super) fn connect(session: &mut Session, source: &Arc<dyn ConsentSource>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let questions = Self { sender, receiver, source: Arc::clone(source) };
        questions.bind(session, "");
        questions
    }

    /// Lets the questions of a session name this tool call.
    pub(super) fn bind(&self, session: &mut Session, call: &str) {
        let (sender, call) = (self.sender.clone(), call.to_owned());
        session.call_options.ask_consent = Some(Arc::new(move |access: &AccessSummary| {
            let (reply, answer) = sync_channel(1);
            // Without a receiver, the turn is over.
            let _ = sender.send(Question { call: call.clone(), access: access.clone(), reply });
            answer.recv().unwrap_or(ConsentAnswer::NotNow)
        }));
    }

    /// Waits for a result. Meanwhile, records the questions of the tool calls and gets the answers, one at a time.
    pub(super) async fn answer_during<T>(
        &mut self,
        work: impl Future<Output = T>,
        journal: &mut TurnJournal<'_>,
        cancel: &CancellationToken,
    ) -> (T, Result<(), TurnError>) {
        tokio::pin!(work);
        let mut recorded = Ok(());
        loop {
            let question = tokio::select! {
                result = &mut work => return (result, recorded),
                Some(question) = self.receiver.recv() => question,
            };
            let Question { call, access, reply } = question;
            let answer = match &recorded {
                // An earlier question was not recorded: the turn ends.
                Err(_) => ConsentAnswer::NotNow,
                Ok(()) => {
                    let mut question = to_question(&call, &access);
                    question.question = self.source.open(&question).await;
                    recorded = journal.notice(TurnEvent::Consent(question.clone())).await;
                    match &recorded {
                        // No client shows the question.
                        Err(_) => ConsentAnswer::NotNow,
                        Ok(()) => tokio::select! {
                            answer = self.source.answer(&question, &access) => answer,
                            () = cancel.cancelled() => ConsentAnswer::NotNow,
                        },
                    }
                }
            };
            // The call has ended if it no longer waits.
            let _ = reply.send(answer);
        }
    }
}

fn to_question(call: &str, access: &AccessSummary) -> ConsentQuestion {
    let row =
        |(title, text): &(&'static str, String)| AccessRow { title: (*title).to_owned(), text: text.clone() };
    ConsentQuestion {
        id: call.to_owned(),
        question: None,
        skill: access.skill.clone(),
        script: access.script.clone(),
        access: access.rows.iter().map(row).collect(),
    }
}
