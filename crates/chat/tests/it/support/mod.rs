//! A test conversation with an agent.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use prowess_chat::TurnEvent;
use prowess_chat::provider::{Backoff, Model, connect_with};
use prowess_chat::turn::{Agent, MemoryRecorder, TurnInput, TurnReport};
pub use prowess_testing::TestEnv;
use prowess_tools::Toolbox;
use tokio_util::sync::CancellationToken;

/// Starts conversations.
pub trait StartConversation {
    fn model(&self, toolbox: &Arc<Toolbox>) -> Arc<dyn Model>;

    /// Starts a conversation.
    fn start(&self) -> TestConversation;
}

impl StartConversation for TestEnv {
    fn model(&self, toolbox: &Arc<Toolbox>) -> Arc<dyn Model> {
        let millis = Duration::from_millis;
        let backoff = Backoff { initial: millis(1), max: millis(2), retry_after_max: Duration::from_secs(2) };
        let key = |name: &str| (name == "KEY").then(|| "sk-SECRET-123".into());
        connect_with(&self.chat, key, toolbox, backoff).unwrap()
    }

    fn start(&self) -> TestConversation {
        let toolbox = self.toolbox();
        let model = self.model(&toolbox);
        TestConversation::new(Agent::new(toolbox, model, self.chat.limits))
    }
}

/// A conversation, turn by turn.
pub struct TestConversation {
    pub agent: Agent,
    pub chat: MemoryRecorder,
    pub events: Vec<TurnEvent>,
    pub cancel: CancellationToken,
}

impl TestConversation {
    pub fn new(agent: Agent) -> Self {
        Self { agent, chat: MemoryRecorder::default(), events: Vec::new(), cancel: CancellationToken::new() }
    }

    /// Runs one turn and keeps only its events.
    pub async fn send(&mut self, text: &str) -> TurnReport {
        let (history, activated) = (self.chat.messages.clone(), self.chat.activated.clone());
        let input = TurnInput {
            chat: "chat-1",
            history: &history,
            activated: &activated,
            text,
            ..TurnInput::default()
        };
        let mut events = Vec::new();
        let outcome =
            self.agent.turn(input, &mut self.chat, &mut |event| events.push(event), &self.cancel).await;
        self.events = events;
        assert!(
            matches!(self.events.last(), Some(TurnEvent::Done { .. } | TurnEvent::Error { .. })),
            "{:?}",
            self.events
        );
        outcome
    }

    /// Returns the text of the model in the last turn.
    pub fn reply_text(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            TurnEvent::Delta { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the tool results of the last turn: tool, status and data.
    pub fn results(&self) -> Vec<(String, String, serde_json::Value)> {
        let result = |event: &TurnEvent| match event {
            TurnEvent::ToolResult { name, status, data, .. } => {
                Some((name.clone(), status.clone(), data.clone()))
            }
            _ => None,
        };
        self.events.iter().filter_map(result).collect()
    }

    /// Returns the error of the last turn: code and message.
    pub fn last_error(&self) -> (String, String) {
        match self.events.last() {
            Some(TurnEvent::Error { code, message }) => (code.clone(), message.clone()),
            other => panic!("{other:?}"),
        }
    }

    /// Returns how the last turn ended.
    pub fn end_reason(&self) -> String {
        match self.events.last() {
            Some(TurnEvent::Done { reason, .. }) => reason.clone(),
            other => panic!("{other:?}"),
        }
    }
}
