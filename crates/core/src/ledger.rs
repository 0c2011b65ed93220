//! What a conversation has loaded, at which digest, and which skills are at work inside one another.
//!
//! Only names and digests are kept, never instructions: what has to be shown again is read again.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::registry::{Skill, Snapshot};
use crate::supply::Unverified;

/// How deep skills may invoke skills.
pub const DEPTH_MAX: usize = 8;

/// The memory of one conversation. In JSON it is a list of names with their digests.
///
/// ```
/// use prowess::ledger::{Ledger, Loaded};
///
/// let mut ledger = Ledger::default();
/// assert_eq!(ledger.activated("pdf", "sha256:1"), Loaded::First);
/// assert_eq!(ledger.activated("pdf", "sha256:1"), Loaded::Again);
/// assert_eq!(ledger.activated("pdf", "sha256:2"), Loaded::Changed);
/// assert_eq!(ledger.names().collect::<Vec<_>>(), ["pdf"]);
/// ```
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
pub struct Ledger {
    loaded: Vec<Entry>,
    calls: Arc<Mutex<Vec<String>>>,
}

/// One skill that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    name: String,
    /// `None` where only the name was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The set of files that a skill of a server was loaded with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held: Option<String>,
}

/// Whether instructions have to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// The conversation does not have them.
    First,
    /// It has them already, the same: a reminder is enough.
    Again,
    /// It has others.
    Changed,
}

impl Loaded {
    /// What to tell the model instead of the instructions; `None` where it needs them.
    pub fn reminder(self, name: &str) -> Option<String> {
        match self {
            Self::First | Self::Changed => None,
            Self::Again => Some(format!(
                "The skill {name} is already loaded in this conversation and has not changed. \
                 Follow the instructions given before."
            )),
        }
    }
}

/// What has to be shown again after a conversation was shortened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reinjection {
    /// The skills with their instructions as they are now, in the order of their activation.
    pub contents: Vec<(String, String)>,
    /// Those that are no longer offered or can no longer be loaded.
    pub gone: Vec<String>,
}

/// A skill that may not be invoked here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// It is at work already.
    #[error("the skills invoke each other in a circle: {}", chain.join(" → "))]
    Cycle {
        /// From the outermost to the one that would be entered again.
        chain: Vec<String>,
    },
    /// Too many are at work.
    #[error("skills may invoke each other {DEPTH_MAX} deep, not deeper: {}", chain.join(" → "))]
    TooDeep {
        /// From the outermost to the one that would be too many.
        chain: Vec<String>,
    },
}

impl LedgerError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidParam
    }
}

/// A skill at work. It is over when this is dropped.
#[derive(Debug)]
#[must_use = "the skill is at work only as long as this is kept"]
pub struct Guard {
    calls: Arc<Mutex<Vec<String>>>,
    name: String,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = calls.iter().rposition(|name| *name == self.name) {
            calls.remove(at);
        }
    }
}

impl Ledger {
    /// The memory of a conversation of which only the names were kept. Each skill is shown once more when it
    /// is activated again: nobody knows which instructions the conversation has.
    pub fn from_names(names: impl IntoIterator<Item = String>) -> Self {
        let mut ledger = Self::default();
        for name in names {
            if !ledger.has(&name) {
                ledger.loaded.push(Entry { name, digest: None, held: None });
            }
        }
        ledger
    }

    /// Notes that a skill was activated, and says what the conversation had of it.
    pub fn activated(&mut self, name: &str, digest: &str) -> Loaded {
        let Some(entry) = self.loaded.iter_mut().find(|entry| entry.name == name) else {
            let (name, digest) = (name.to_owned(), Some(digest.to_owned()));
            self.loaded.push(Entry { name, digest, held: None });
            return Loaded::First;
        };
        match entry.digest.replace(digest.to_owned()) {
            None => Loaded::First,
            Some(before) if before == digest => Loaded::Again,
            Some(_) => Loaded::Changed,
        }
    }

    /// Notes with which set of files a skill of a server was loaded. As long as the conversation has its instructions,
    /// it may read files of that set and no others.
    pub fn hold(&mut self, name: &str, set: Option<&str>) {
        if let Some(entry) = self.loaded.iter_mut().find(|entry| entry.name == name) {
            entry.held = set.map(str::to_owned);
        }
    }

    /// Refuses to read files of a skill that is no longer what this conversation loaded.
    pub fn admit(&self, name: &str, skill: &Skill) -> Result<(), Unverified> {
        let held =
            self.loaded.iter().find(|entry| entry.name == name).and_then(|entry| entry.held.as_deref());
        let now = skill.supplied().map(|supplied| supplied.offered().set());
        match held {
            Some(held) if now.as_deref() != Some(held) => {
                Err(Unverified::Held { name: crate::skill::shown(&skill.name()) })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The skills of servers that this conversation has loaded.
    pub fn served(&self) -> impl Iterator<Item = &str> {
        self.loaded.iter().filter(|entry| entry.held.is_some()).map(|entry| entry.name.as_str())
    }

    /// Whether a skill was activated.
    pub fn has(&self, name: &str) -> bool {
        self.loaded.iter().any(|entry| entry.name == name)
    }

    /// The names of all skills that were activated, in that order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.loaded.iter().map(|entry| entry.name.as_str())
    }

    /// Forgets a skill; says whether it was there.
    pub fn release(&mut self, name: &str) -> bool {
        let before = self.loaded.len();
        self.loaded.retain(|entry| entry.name != name);
        self.loaded.len() < before
    }

    /// What has to be shown again after the conversation was shortened. `content` gives a skill's
    /// instructions and their digest as they are now, or nothing where they cannot be loaded.
    pub fn reinjection(
        &mut self,
        snapshot: &Snapshot,
        mut content: impl FnMut(&Skill) -> Option<(String, String)>,
    ) -> Reinjection {
        let mut again = Reinjection::default();
        for entry in &mut self.loaded {
            let skill = snapshot.get(&entry.name).filter(|skill| skill.is_enabled());
            let set = skill.and_then(|skill| skill.supplied()).map(|supplied| supplied.offered().set());
            match skill.and_then(&mut content) {
                Some((text, digest)) => {
                    entry.digest = Some(digest);
                    entry.held = set;
                    again.contents.push((entry.name.clone(), text));
                }
                None => again.gone.push(entry.name.clone()),
            }
        }
        again
    }

    /// Notes that a skill is at work, until the guard is dropped. A skill that is at work already, in itself
    /// or in another, is refused.
    pub fn enter(&self, name: &str) -> Result<Guard, LedgerError> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let chain = || calls.iter().cloned().chain([name.to_owned()]).collect();
        if calls.iter().any(|at_work| at_work == name) {
            return Err(LedgerError::Cycle { chain: chain() });
        }
        if calls.len() >= DEPTH_MAX {
            return Err(LedgerError::TooDeep { chain: chain() });
        }
        calls.push(name.to_owned());
        Ok(Guard { calls: Arc::clone(&self.calls), name: name.to_owned() })
    }
}

impl Clone for Ledger {
    /// The same memory; what is at work is at work only there.
    fn clone(&self) -> Self {
        Self { loaded: self.loaded.clone(), calls: Arc::default() }
    }
}

impl PartialEq for Ledger {
    fn eq(&self, other: &Self) -> bool {
        self.loaded == other.loaded
    }
}

impl From<Vec<Entry>> for Ledger {
    fn from(entries: Vec<Entry>) -> Self {
        let mut ledger = Self::default();
        for entry in entries {
            if !ledger.has(&entry.name) {
                ledger.loaded.push(entry);
            }
        }
        ledger
    }
}

impl From<Ledger> for Vec<Entry> {
    fn from(ledger: Ledger) -> Self {
        ledger.loaded
    }
}
