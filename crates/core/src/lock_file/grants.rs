//! The grants to an installed skill, as recorded in its lock file.
//!
//! Invariant: this is a record. Nothing is granted because a lock file says so: a project's lock file is
//! untrusted input.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The user's grants to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GrantedAccess {
    /// Whether its scripts have network access.
    pub network: bool,
    /// The environment variables that are passed to it, out of those it needs.
    pub env: BTreeSet<String>,
}

impl GrantedAccess {
    /// Returns `true` if nothing is granted.
    pub fn is_empty(&self) -> bool {
        !self.network && self.env.is_empty()
    }

    /// Returns the grants that are in `new` but not in `self`.
    #[must_use]
    pub fn added_in(&self, new: &Self) -> Self {
        Self { network: new.network && !self.network, env: new.env.difference(&self.env).cloned().collect() }
    }

    /// Formats the grants as text: `the network, GITHUB_TOKEN`, or `nothing`.
    pub fn describe(&self) -> String {
        let network = self.network.then_some("the network");
        let all: Vec<&str> = network.into_iter().chain(self.env.iter().map(String::as_str)).collect();
        if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
    }
}
