//! What the user granted to an installed skill, written down in its lock.
//!
//! What must always hold: this is a record. Nothing is granted because a lock says so; a project's lock is a file from
//! strangers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What the user granted to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Granted {
    /// Whether its scripts reach the network.
    pub network: bool,
    /// The variables that it is passed, of those that it asks for.
    pub env: BTreeSet<String>,
}

impl Granted {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        !self.network && self.env.is_empty()
    }

    /// What `new` has and this does not.
    #[must_use]
    pub fn difference(&self, new: &Self) -> Self {
        Self { network: new.network && !self.network, env: new.env.difference(&self.env).cloned().collect() }
    }

    /// In words: `the network, GITHUB_TOKEN`, or `nothing`.
    pub fn told(&self) -> String {
        let network = self.network.then_some("the network");
        let all: Vec<&str> = network.into_iter().chain(self.env.iter().map(String::as_str)).collect();
        if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
    }
}
