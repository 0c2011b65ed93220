//! One conversation.

use std::collections::BTreeSet;

use prowess::ledger::Ledger;

/// What a conversation has loaded, and whom the user called by name.
#[derive(Debug, Default)]
pub struct Session {
    /// What was loaded, at which digest.
    pub ledger: Ledger,
    called: BTreeSet<String>,
}

impl Session {
    /// The user called this skill by name, as [`key`](crate::key) has it: the model may load it even where it is not
    /// told of it.
    pub fn call_by_name(&mut self, name: &str) {
        self.called.insert(name.to_owned());
    }

    /// Whether the user called it.
    pub fn was_called(&self, name: &str) -> bool {
        self.called.contains(name)
    }
}
