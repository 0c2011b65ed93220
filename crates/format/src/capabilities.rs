//! The capabilities of a skill, as the audit reports them and the lock file records them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What the files of a skill can access: facts, without a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// Files that can be run: scripts, and files marked as executable.
    pub scripts: BTreeSet<String>,
    /// Hosts of the URLs in its files.
    pub hosts: BTreeSet<String>,
    /// The entries of `allowed-tools`.
    pub tools: BTreeSet<String>,
    /// Environment variables that its code mentions.
    pub env: BTreeSet<String>,
}

impl Capabilities {
    /// Returns the capabilities that `new` has and `self` does not.
    #[must_use]
    pub fn added_in(&self, new: &Self) -> Self {
        let added = |old: &BTreeSet<String>, new: &BTreeSet<String>| new.difference(old).cloned().collect();
        Self {
            scripts: added(&self.scripts, &new.scripts),
            hosts: added(&self.hosts, &new.hosts),
            tools: added(&self.tools, &new.tools),
            env: added(&self.env, &new.env),
        }
    }

    /// Returns `true` if there are no capabilities.
    pub fn is_empty(&self) -> bool {
        [&self.scripts, &self.hosts, &self.tools, &self.env].iter().all(|set| set.is_empty())
    }
}
