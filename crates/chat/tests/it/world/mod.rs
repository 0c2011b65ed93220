//! A conversation with an agent, turn by turn.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use prowess_chat::Event;
use prowess_chat::provider::{Backoff, Model, connect_with};
use prowess_chat::turn::{Agent, Input, Memory, Outcome};
pub use prowess_testing::World;
use prowess_tools::Toolbox;
use tokio_util::sync::CancellationToken;

/// Talking in a world.
pub trait Talks {
    fn model(&self, toolbox: &Arc<Toolbox>) -> Arc<dyn Model>;

    /// A conversation.
    fn start(&self) -> Talk;
}

impl Talks for World {
    fn model(&self, toolbox: &Arc<Toolbox>) -> Arc<dyn Model> {
        let millis = Duration::from_millis;
        let backoff = Backoff { first: millis(1), most: millis(2), asked_most: Duration::from_secs(2) };
        let key = |name: &str| (name == "KEY").then(|| "sk-SECRET-123".into());
        connect_with(&self.chat, key, toolbox, backoff).unwrap()
    }

    fn start(&self) -> Talk {
        let toolbox = self.toolbox();
        let model = self.model(&toolbox);
        Talk::new(Agent::new(toolbox, model, self.chat.limits))
    }
}

/// A conversation, turn by turn.
pub struct Talk {
    pub agent: Agent,
    pub chat: Memory,
    pub events: Vec<Event>,
    pub cancel: CancellationToken,
}

impl Talk {
    pub fn new(agent: Agent) -> Self {
        Self { agent, chat: Memory::default(), events: Vec::new(), cancel: CancellationToken::new() }
    }

    /// One turn; the events of this turn alone are kept.
    pub async fn say(&mut self, text: &str) -> Outcome {
        let (history, activated) = (self.chat.messages.clone(), self.chat.activated.clone());
        let input = Input { chat: "chat-1", history: &history, activated: &activated, text };
        let mut events = Vec::new();
        let outcome =
            self.agent.turn(input, &mut self.chat, &mut |event| events.push(event), &self.cancel).await;
        self.events = events;
        assert!(
            matches!(self.events.last(), Some(Event::Done { .. } | Event::Error { .. })),
            "{:?}",
            self.events
        );
        outcome
    }

    /// What the model said in the latest turn.
    pub fn said(&self) -> String {
        let said = self.events.iter().filter_map(|event| match event {
            Event::Delta { text } => Some(text.as_str()),
            _ => None,
        });
        said.collect()
    }

    /// The results of tools in the latest turn: tool, status and what a page is told.
    pub fn results(&self) -> Vec<(String, String, serde_json::Value)> {
        let result = |event: &Event| match event {
            Event::ToolResult { name, status, data, .. } => {
                Some((name.clone(), status.clone(), data.clone()))
            }
            _ => None,
        };
        self.events.iter().filter_map(result).collect()
    }

    /// The error that the latest turn ended with: code and message.
    pub fn error(&self) -> (String, String) {
        match self.events.last() {
            Some(Event::Error { code, message }) => (code.clone(), message.clone()),
            other => panic!("{other:?}"),
        }
    }

    /// How the latest turn ended.
    pub fn reason(&self) -> String {
        match self.events.last() {
            Some(Event::Done { reason, .. }) => reason.clone(),
            other => panic!("{other:?}"),
        }
    }
}
