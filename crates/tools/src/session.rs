//! The state of a conversation.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use prowess::Snapshot;
use prowess::ledger::Ledger;
use serde_json::{Map, Value};

use crate::consent::ConsentCallback;
use crate::workspace::ConversationWorkspace;

/// The state of a conversation: loaded skills, and skills that the user requested.
#[derive(Debug, Default)]
pub struct Session {
    /// The skills that the conversation has loaded, with the digests of their instructions.
    pub ledger: Ledger,
    /// Information about the conversation for the tools of skills.
    pub info: ConversationInfo,
    /// The conversation for which tool programs run; they end with it.
    #[cfg(feature = "toolsets")]
    pub(crate) conversation: prowess_toolset::Conversation,
    /// The paths of files that the conversation is about, for skills that are only offered for some files.
    pub files: Vec<String>,
    /// Options for calls that are made with this session.
    pub call_options: CallOptions,
    /// The remote skills that the conversation has read files of.
    pub(crate) remote_reads: BTreeSet<String>,
    invoked: BTreeSet<String>,
    pushed: Mutex<Vec<String>>,
}

impl Clone for Session {
    /// Clones the handle; both refer to the same conversation.
    fn clone(&self) -> Self {
        Self {
            ledger: self.ledger.clone(),
            info: self.info.clone(),
            #[cfg(feature = "toolsets")]
            conversation: self.conversation.clone(),
            files: self.files.clone(),
            call_options: self.call_options.clone(),
            remote_reads: self.remote_reads.clone(),
            invoked: self.invoked.clone(),
            pushed: Mutex::new(self.pushed.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        }
    }
}

/// Options of a call: cancellation, output, and the form of the response.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Cancels scripts and tools of skills early. By default, scripts are cancelled by the handle of the
    /// [`ScriptRunner`](crate::ScriptRunner).
    pub cancel: Option<prowess_sandbox::Cancel>,
    /// Receives the output of scripts as it arrives.
    pub on_output: Option<Arc<OutputCallback>>,
    /// Whether the caller takes instructions only from the text of a response, so that `data` need not repeat
    /// them.
    pub text_only: bool,
    /// Whether to return instructions again instead of a reminder, because the client may have compacted the
    /// conversation.
    pub repeat_instructions: bool,
    /// Whether the call is only a preview, which is not recorded as a use of a skill.
    pub is_preview: bool,
    /// Where scripts work. By default, each script has a temporary workspace.
    pub workspace: Option<ConversationWorkspace>,
    /// Whether the model can list, read and write the files of the workspace itself.
    pub workspace_tools: bool,
    /// Directories of the user whose files may be inputs of scripts.
    pub shared_dirs: Vec<PathBuf>,
    /// Asks the user whether a script may run. Without it, only the configuration allows scripts.
    pub ask_consent: Option<Arc<ConsentCallback>>,
}

/// A callback for the output of a script.
pub type OutputCallback = dyn Fn(prowess_sandbox::OutputStream, &[u8]) + Send + Sync;

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("cancel", &self.cancel)
            .field("text_only", &self.text_only)
            .finish_non_exhaustive()
    }
}

/// Information about a conversation for the tools of skills. All fields may be empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConversationInfo {
    /// The id of the conversation: `ctx.sessionID`.
    pub session_id: String,
    /// The id of the message that is being answered: `ctx.messageID`.
    pub message_id: String,
    /// The agent that answers it: `ctx.agent`.
    pub agent: String,
    /// Additional fields: `ctx.extra`.
    pub extra: Map<String, Value>,
}

impl Session {
    /// Records that the user requested this skill, by its [`key`](prowess::SkillKey). The model may load it even
    /// if it is not in the catalog.
    pub fn mark_invoked(&mut self, name: &str) {
        self.invoked.insert(name.to_owned());
    }

    /// Adds the remote skills that another session has read files of: their text is in this conversation, too.
    pub fn add_remote_reads(&mut self, other: &Self) {
        self.remote_reads.extend(other.remote_reads.iter().cloned());
    }

    /// Returns the remote skills whose text is in this conversation: loaded ones, and those whose files were read.
    pub fn remote_skills(&self, snapshot: &Snapshot) -> Vec<String> {
        let is_remote = |name: &&str| {
            self.ledger.has_file_set(name) || snapshot.get(name).is_some_and(|skill| skill.remote().is_some())
        };
        let loaded = self.ledger.names().filter(is_remote).map(str::to_owned);
        loaded.chain(self.remote_reads.iter().cloned()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the active skills: loaded ones, those that the user requested, and those whose instructions the
    /// last message pushed into the prompt.
    pub fn active_skills(&self) -> Vec<String> {
        let mut active: Vec<String> = self.ledger.names().map(str::to_owned).collect();
        let pushed = self.pushed.lock().unwrap_or_else(PoisonError::into_inner);
        for name in self.invoked.iter().chain(pushed.iter()) {
            if !active.contains(name) {
                active.push(name.clone());
            }
        }
        active
    }

    /// Sets the skills whose instructions the latest message pushed into the prompt.
    pub(crate) fn set_pushed(&self, names: Vec<String>) {
        *self.pushed.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Returns `true` if the user requested the skill.
    pub fn was_invoked(&self, name: &str) -> bool {
        self.invoked.contains(name)
    }
}
