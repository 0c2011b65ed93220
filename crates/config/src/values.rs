//! What is in force while the layers are read.

use std::path::PathBuf;

use super::chat::Chat;
use super::embeddings::Embeddings;
use super::source::McpSource;
use prowess::policy::{Activation, Policy};

/// How many skills are pushed at once where nobody says otherwise.
const MAX_PUSHED: u32 = 3;

/// Everything a key can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) policy: Policy,
    /// Apart from the policy, too: it says nothing of skills.
    pub(super) chat: Chat,
    /// As apart.
    pub(super) embeddings: Embeddings,
    /// Apart from the policy, whose activation holds it only while it is `pushed`: the order of keys must not
    /// matter.
    pub(super) max_pushed: u32,
    /// The servers that skills are taken from.
    pub(super) mcp_sources: Vec<McpSource>,
    /// What `~` in a path stands for.
    pub(super) home: Option<PathBuf>,
}

impl Values {
    /// What a policy says, before any file.
    pub(super) fn of(policy: Policy, home: Option<PathBuf>) -> Self {
        let max_pushed = match policy.activation {
            Activation::Pushed { max } => max,
            _ => MAX_PUSHED,
        };
        let (chat, embeddings) = (Chat::default(), Embeddings::default());
        Self { policy, chat, embeddings, max_pushed, mcp_sources: Vec::new(), home }
    }

    /// The policy, with everything where it belongs.
    pub(super) fn into_policy(mut self) -> Policy {
        if let Activation::Pushed { max } = &mut self.policy.activation {
            *max = self.max_pushed;
        }
        self.policy
    }
}

/// One place in the values.
pub(super) struct Lens<T> {
    pub(super) get: fn(&Values) -> &T,
    pub(super) get_mut: fn(&mut Values) -> &mut T,
}

/// The place `policy.scan.depth` and the like.
macro_rules! at {
    ($($field:ident).+) => {
        Lens { get: |values| &values.$($field).+, get_mut: |values| &mut values.$($field).+ }
    };
}
pub(super) use at;
