//! The skills that a conversation has loaded, with their digests, and the stack of skills that are invoking
//! each other.
//!
//! A ledger stores names and digests only. Instructions that have to be shown again are read again.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::registry::{Skill, Snapshot};
use crate::remote::RemoteFileError;

/// The maximum depth of skills that invoke other skills.
pub const DEPTH_MAX: usize = 8;

/// The skills loaded in one conversation. Serializes to a list of names with their digests.
///
/// ```
/// use prowess::ledger::{Ledger, LoadOutcome};
///
/// let mut ledger = Ledger::default();
/// assert_eq!(ledger.record_activation("pdf", "sha256:1"), LoadOutcome::New);
/// assert_eq!(ledger.record_activation("pdf", "sha256:1"), LoadOutcome::Unchanged);
/// assert_eq!(ledger.record_activation("pdf", "sha256:2"), LoadOutcome::Changed);
/// assert_eq!(ledger.names().collect::<Vec<_>>(), ["pdf"]);
/// ```
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<LedgerEntry>", into = "Vec<LedgerEntry>")]
pub struct Ledger {
    loaded: Vec<LedgerEntry>,
    call_stack: Arc<Mutex<Vec<String>>>,
}

/// A loaded skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LedgerEntry {
    name: String,
    /// `None` if only the name is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The digest of the file set with which a remote skill was loaded.
    #[serde(rename = "held", default, skip_serializing_if = "Option::is_none")]
    file_set: Option<String>,
}

/// Whether the instructions of an activated skill have to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOutcome {
    /// The conversation does not have them yet.
    New,
    /// The conversation has the same instructions: a reminder is enough.
    Unchanged,
    /// The conversation has other instructions.
    Changed,
}

impl LoadOutcome {
    /// Returns the text that the model gets instead of the instructions; `None` if it needs the instructions.
    pub fn reminder(self, name: &str) -> Option<String> {
        match self {
            Self::New | Self::Changed => None,
            Self::Unchanged => Some(format!(
                "The skill {name} is already loaded in this conversation and has not changed. \
                 Follow the instructions given earlier."
            )),
        }
    }
}

/// The skills to show again after a conversation was compacted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reinjection {
    /// The names and current instructions of the skills, in the order of their activation.
    pub contents: Vec<(String, String)>,
    /// The skills that are no longer available.
    pub unavailable: Vec<String>,
}

/// The reason why a skill may not be invoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnterSkillError {
    /// The skill is already on the call stack.
    #[error("skills invoke each other in a cycle: {}", chain.join(" → "))]
    Cycle {
        /// The call stack, from the outermost skill to the one that would be entered again.
        chain: Vec<String>,
    },
    /// The call stack is full.
    #[error("skills are nested more than {DEPTH_MAX} deep: {}", chain.join(" → "))]
    TooDeep {
        /// The call stack, from the outermost skill to the one that was rejected.
        chain: Vec<String>,
    },
}

impl EnterSkillError {
    /// Returns the error code that tools report.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidParam
    }
}

/// Keeps a skill on the call stack until it is dropped.
#[derive(Debug)]
#[must_use = "dropping the guard leaves the skill"]
pub struct CallGuard {
    call_stack: Arc<Mutex<Vec<String>>>,
    name: String,
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut call_stack = self.call_stack.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = call_stack.iter().rposition(|name| *name == self.name) {
            call_stack.remove(index);
        }
    }
}

impl Ledger {
    /// Restores the ledger of a conversation of which only the skill names are known. Each skill's instructions
    /// are shown once more when it is activated again.
    pub fn from_names(names: impl IntoIterator<Item = String>) -> Self {
        let mut ledger = Self::default();
        for name in names {
            if !ledger.contains(&name) {
                ledger.loaded.push(LedgerEntry { name, digest: None, file_set: None });
            }
        }
        ledger
    }

    /// Records the activation of a skill and returns whether its instructions have to be shown.
    pub fn record_activation(&mut self, name: &str, digest: &str) -> LoadOutcome {
        let Some(entry) = self.loaded.iter_mut().find(|entry| entry.name == name) else {
            let (name, digest) = (name.to_owned(), Some(digest.to_owned()));
            self.loaded.push(LedgerEntry { name, digest, file_set: None });
            return LoadOutcome::New;
        };
        match entry.digest.replace(digest.to_owned()) {
            None => LoadOutcome::New,
            Some(previous) if previous == digest => LoadOutcome::Unchanged,
            Some(_) => LoadOutcome::Changed,
        }
    }

    /// Records the file set with which a remote skill was loaded. While the conversation has its instructions,
    /// it may only read files of that set.
    pub fn pin_file_set(&mut self, name: &str, set: Option<&str>) {
        if let Some(entry) = self.loaded.iter_mut().find(|entry| entry.name == name) {
            entry.file_set = set.map(str::to_owned);
        }
    }

    /// Returns an error if a skill's files are no longer those that this conversation loaded.
    pub fn check_file_set(&self, name: &str, skill: &Skill) -> Result<(), RemoteFileError> {
        let pinned =
            self.loaded.iter().find(|entry| entry.name == name).and_then(|entry| entry.file_set.as_deref());
        let current = skill.remote().map(|remote| remote.entry().files_digest());
        match pinned {
            Some(pinned) if current.as_deref() != Some(pinned) => {
                Err(RemoteFileError::Outdated { name: crate::skill::display_text(&skill.name()) })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns `true` if the file set of the skill was [recorded](Self::pin_file_set): it was loaded from a server.
    pub fn has_file_set(&self, name: &str) -> bool {
        self.loaded.iter().any(|entry| entry.name == name && entry.file_set.is_some())
    }

    /// Returns `true` if the skill was activated.
    pub fn contains(&self, name: &str) -> bool {
        self.loaded.iter().any(|entry| entry.name == name)
    }

    /// Returns the names of all activated skills, in the order of their activation.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.loaded.iter().map(|entry| entry.name.as_str())
    }

    /// Records that the conversation no longer has the instructions of a skill, although it is still active. They are
    /// shown once more when it is activated again.
    pub fn forget_instructions(&mut self, name: &str) {
        if let Some(entry) = self.loaded.iter_mut().find(|entry| entry.name == name) {
            entry.digest = None;
        }
    }

    /// Keeps only the skills for which `is_kept` returns `true`.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.loaded.retain(|entry| is_kept(&entry.name));
    }

    /// Removes a skill; returns `true` if it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        let count = self.loaded.len();
        self.retain(|other| other != name);
        self.loaded.len() < count
    }

    /// Returns what has to be shown again after the conversation was compacted. `is_removed` returns whether the
    /// instructions of a skill were removed; `content` returns its current instructions and their digest, or `None`
    /// if they cannot be loaded.
    pub fn collect_reinjection(
        &mut self,
        snapshot: &Snapshot,
        is_removed: impl Fn(&str) -> bool,
        mut content: impl FnMut(&Skill) -> Option<(String, String)>,
    ) -> Reinjection {
        let mut reinjection = Reinjection::default();
        // Other entries describe the text that the conversation still has.
        for entry in self.loaded.iter_mut().filter(|entry| is_removed(&entry.name)) {
            let skill = snapshot.get(&entry.name).filter(|skill| skill.is_enabled());
            let set = skill.and_then(|skill| skill.remote()).map(|remote| remote.entry().files_digest());
            match skill.and_then(&mut content) {
                Some((text, digest)) => {
                    entry.digest = Some(digest);
                    entry.file_set = set;
                    reinjection.contents.push((entry.name.clone(), text));
                }
                None => {
                    entry.digest = None;
                    reinjection.unavailable.push(entry.name.clone());
                }
            }
        }
        reinjection
    }

    /// Pushes a skill onto the call stack until the guard is dropped. Fails for a skill that is already on the
    /// stack.
    pub fn enter(&self, name: &str) -> Result<CallGuard, EnterSkillError> {
        let mut call_stack = self.call_stack.lock().unwrap_or_else(PoisonError::into_inner);
        let chain = || call_stack.iter().cloned().chain([name.to_owned()]).collect();
        if call_stack.iter().any(|active| active == name) {
            return Err(EnterSkillError::Cycle { chain: chain() });
        }
        if call_stack.len() >= DEPTH_MAX {
            return Err(EnterSkillError::TooDeep { chain: chain() });
        }
        call_stack.push(name.to_owned());
        Ok(CallGuard { call_stack: Arc::clone(&self.call_stack), name: name.to_owned() })
    }
}

impl Clone for Ledger {
    /// Clones the loaded skills; the clone has an empty call stack.
    fn clone(&self) -> Self {
        Self { loaded: self.loaded.clone(), call_stack: Arc::default() }
    }
}

impl PartialEq for Ledger {
    fn eq(&self, other: &Self) -> bool {
        self.loaded == other.loaded
    }
}

impl From<Vec<LedgerEntry>> for Ledger {
    fn from(entries: Vec<LedgerEntry>) -> Self {
        let mut ledger = Self::default();
        for entry in entries {
            if !ledger.contains(&entry.name) {
                ledger.loaded.push(entry);
            }
        }
        ledger
    }
}

impl From<Ledger> for Vec<LedgerEntry> {
    fn from(ledger: Ledger) -> Self {
        ledger.loaded
    }
}
