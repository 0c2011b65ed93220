//! One conversation.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prowess::ledger::Ledger;
use serde_json::{Map, Value};

/// What a conversation has loaded, and whom the user called by name.
#[derive(Debug, Default)]
pub struct Session {
    /// What was loaded, at which digest.
    pub ledger: Ledger,
    /// What the tools of toolsets are told about the conversation.
    pub about: About,
    /// Ends the calls of toolsets' tools that are under way.
    #[cfg(feature = "toolsets")]
    pub cancel: prowess_toolset::Cancel,
    /// What the programs that bring tools work for: they end with it.
    #[cfg(feature = "toolsets")]
    pub(crate) conversation: prowess_toolset::Conversation,
    /// Who waits for the calls that are made with this session.
    pub waiting: Waiting,
    called: BTreeSet<String>,
    pushed: Mutex<Vec<String>>,
}

impl Clone for Session {
    /// The same conversation.
    fn clone(&self) -> Self {
        Self {
            ledger: self.ledger.clone(),
            about: self.about.clone(),
            #[cfg(feature = "toolsets")]
            cancel: self.cancel.clone(),
            #[cfg(feature = "toolsets")]
            conversation: self.conversation.clone(),
            waiting: self.waiting.clone(),
            called: self.called.clone(),
            pushed: Mutex::new(self.pushed.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        }
    }
}

/// Who waits for a call: what ends it early, what is told meanwhile, and what is wanted of the answer.
#[derive(Clone, Default)]
pub struct Waiting {
    /// Ends scripts early, instead of what the [`Runner`](crate::Runner) has.
    pub cancel: Option<prowess_sandbox::Cancel>,
    /// Is given the output of scripts as it comes.
    pub on_output: Option<Arc<OnOutput>>,
    /// Whoever waits takes instructions from an answer's text: its data need not have them a second time.
    pub text_only: bool,
    /// The context of the conversation belongs to somebody else, who may have shortened it: instructions that it was given
    /// before are given again, not a reminder of them.
    pub repeat_instructions: bool,
    /// Nothing comes of it: somebody looks at what would happen, and that counts as no use of a skill.
    pub only_looks: bool,
}

/// Takes the output of a script as it comes.
pub type OnOutput = dyn Fn(prowess_sandbox::Stream, &[u8]) + Send + Sync;

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting")
            .field("cancel", &self.cancel)
            .field("text_only", &self.text_only)
            .finish_non_exhaustive()
    }
}

/// What the tools of toolsets are told about a conversation, beside their arguments. All of it may be empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct About {
    /// The conversation: `ctx.sessionID`.
    pub session_id: String,
    /// The message that is being answered: `ctx.messageID`.
    pub message_id: String,
    /// Who answers it: `ctx.agent`.
    pub agent: String,
    /// Whatever else: `ctx.extra`.
    pub extra: Map<String, Value>,
}

impl Session {
    /// The user called this skill by name, as [`key`](crate::key) has it: the model may load it even where it is not
    /// told of it.
    pub fn call_by_name(&mut self, name: &str) {
        self.called.insert(name.to_owned());
    }

    /// The skills that are active: those that were loaded, those that the user called, and those whose instructions the
    /// last message pushed into the prompt.
    pub fn active(&self) -> Vec<String> {
        let mut active: Vec<String> = self.ledger.names().map(str::to_owned).collect();
        let pushed = self.pushed.lock().unwrap_or_else(PoisonError::into_inner);
        for name in self.called.iter().chain(pushed.iter()) {
            if !active.contains(name) {
                active.push(name.clone());
            }
        }
        active
    }

    /// The latest message pushed the instructions of these skills into the prompt, and of no others.
    pub(crate) fn push(&self, names: Vec<String>) {
        *self.pushed.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Whether the user called it.
    pub fn was_called(&self, name: &str) -> bool {
        self.called.contains(name)
    }
}
