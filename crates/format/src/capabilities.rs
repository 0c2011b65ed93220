//! What the files of a skill can do, as the audit reports it and a lock records it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a skill brings besides words: facts, not a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// Files that can be run: scripts, and whatever is marked as executable.
    pub scripts: BTreeSet<String>,
    /// Hosts of the addresses that any of its texts names.
    pub hosts: BTreeSet<String>,
    /// What `allowed-tools` lists.
    pub tools: BTreeSet<String>,
    /// Variables of the environment that its code names.
    pub env: BTreeSet<String>,
}

impl Capabilities {
    /// What `new` has and this does not.
    #[must_use]
    pub fn difference(&self, new: &Self) -> Self {
        let added = |old: &BTreeSet<String>, new: &BTreeSet<String>| new.difference(old).cloned().collect();
        Self {
            scripts: added(&self.scripts, &new.scripts),
            hosts: added(&self.hosts, &new.hosts),
            tools: added(&self.tools, &new.tools),
            env: added(&self.env, &new.env),
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        [&self.scripts, &self.hosts, &self.tools, &self.env].iter().all(|set| set.is_empty())
    }
}
