//! The remote skills that the user approved. Stored in the user's state, by label and URI.
//!
//! Invariants: an approval holds for exactly the approved files with their digests; once a different set of
//! files was seen, the approval ends, even if the old set comes back; and a state that cannot be read approves
//! nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use prowess_format::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

use super::RemoteEntry;
use crate::file_diagnostic::FileDiagnostic;
use crate::host_env::HostEnv;
use crate::usage::now;
use crate::user_state::{self, TrustError, UserState};

/// The user's approval of one remote skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The user's label for the server.
    pub server: String,
    /// The URI of the skill's `SKILL.md`.
    pub uri: String,
    /// The approved digest of each file, by URI.
    pub files: BTreeMap<String, String>,
    /// Additional grants.
    #[serde(flatten)]
    pub grants: ApprovalGrants,
    /// The time of the approval, in seconds since 1970.
    #[serde(default)]
    pub at: u64,
    /// Whether a different set of files was seen since then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
}

/// The grants to an approved remote skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ApprovalGrants {
    /// Its `allowed-tools` take effect.
    #[serde(default)]
    pub allow_tools: bool,
    /// While it is loaded, the model may still run scripts and tools of other skills.
    #[serde(default)]
    pub allow_run: bool,
}

/// Whether an approval covers the files that are listed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalStatus {
    /// The skill was never approved.
    New,
    /// Other files were approved.
    Changed,
    /// The listed files are approved.
    Approved(ApprovalGrants),
}

impl ApprovalStatus {
    /// Returns the grants; none if the skill is not approved.
    pub fn grants(self) -> ApprovalGrants {
        match self {
            Self::Approved(grants) => grants,
            Self::New | Self::Changed => ApprovalGrants::default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct ApprovalsFile {
    schema: u32,
    skills: Vec<Approval>,
}

impl UserState for ApprovalsFile {
    const BYTES_MAX: u64 = 64 * 1024 * 1024;

    fn schema(&mut self) -> &mut u32 {
        &mut self.schema
    }

    fn sort(&mut self) {
        self.skills.sort_by(|a, b| (&a.server, &a.uri).cmp(&(&b.server, &b.uri)));
    }
}

/// All approvals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approvals {
    state: ApprovalsFile,
    problem: Option<FileDiagnostic>,
}

impl Approvals {
    /// Loads the approvals. A state that cannot be read approves nothing and is reported as a problem.
    pub fn load(host: &HostEnv) -> Self {
        let Some(path) = path(host) else { return Self::default() };
        match user_state::read_state(&path) {
            Ok(state) => Self { state, problem: None },
            Err(reason) => {
                let message = format!("cannot read the approvals ({reason}); no remote skill is approved");
                let help = "fix the file, or delete it and approve your skills again";
                let diagnostic = Diagnostic::error(Code::TrustState, message).help(help);
                Self { state: ApprovalsFile::default(), problem: Some(FileDiagnostic::new(path, diagnostic)) }
            }
        }
    }

    pub(crate) fn problem(&self) -> Option<&FileDiagnostic> {
        self.problem.as_ref()
    }

    /// Returns all approvals.
    pub fn all(&self) -> &[Approval] {
        &self.state.skills
    }

    /// Returns the approval of a remote skill.
    pub fn get(&self, server: &str, uri: &str) -> Option<&Approval> {
        self.state.skills.iter().find(|approval| approval.server == server && approval.uri == uri)
    }

    /// Returns whether the skill is approved as it is listed now.
    pub fn status(&self, server: &str, entry: &RemoteEntry) -> ApprovalStatus {
        match self.get(server, &entry.uri) {
            None => ApprovalStatus::New,
            Some(approval) if approval.revoked || !approval.covers(entry) => ApprovalStatus::Changed,
            Some(approval) => ApprovalStatus::Approved(approval.grants),
        }
    }
}

impl Approval {
    /// Returns `true` if the listed files are exactly the approved ones.
    fn covers(&self, entry: &RemoteEntry) -> bool {
        !self.files.is_empty()
            && self.files.len() == entry.files.len()
            && entry.files.iter().all(|file| self.files.get(&file.uri) == Some(&file.digest))
    }
}

/// Approves a skill as it is listed now. Returns the previous approval.
pub fn approve(
    server: &str,
    entry: &RemoteEntry,
    grants: ApprovalGrants,
    host: &HostEnv,
) -> Result<Option<Approval>, TrustError> {
    let files = entry.files.iter().map(|file| (file.uri.clone(), file.digest.clone())).collect();
    let approval = Approval {
        server: server.to_owned(),
        uri: entry.uri.clone(),
        files,
        grants,
        at: now(),
        revoked: false,
    };
    update(host, |state| {
        let previous =
            remove_matching(state, |existing| existing.server == server && existing.uri == entry.uri).pop();
        state.skills.push(approval);
        previous
    })
}

/// Withdraws the approval of one skill, or of all skills of a server. Returns the removed approvals.
pub fn withdraw(server: &str, uri: Option<&str>, host: &HostEnv) -> Result<Vec<Approval>, TrustError> {
    update(host, |state| {
        remove_matching(state, |approval| {
            approval.server == server && uri.is_none_or(|uri| approval.uri == uri)
        })
    })
}

/// Ends the approvals of skills whose files changed.
pub(crate) fn revoke(changed: &[(String, String)], host: &HostEnv) -> Result<(), TrustError> {
    update(host, |state| {
        for approval in &mut state.skills {
            approval.revoked |=
                changed.iter().any(|(server, uri)| approval.server == *server && approval.uri == *uri);
        }
    })
}

fn remove_matching(state: &mut ApprovalsFile, matches: impl Fn(&Approval) -> bool) -> Vec<Approval> {
    let (removed, remaining) = std::mem::take(&mut state.skills).into_iter().partition(matches);
    state.skills = remaining;
    removed
}

fn path(host: &HostEnv) -> Option<PathBuf> {
    Some(host.state_dir()?.join("approvals.json"))
}

fn update<T>(host: &HostEnv, change: impl FnOnce(&mut ApprovalsFile) -> T) -> Result<T, TrustError> {
    let load = || {
        let Approvals { state, problem } = Approvals::load(host);
        (state, problem)
    };
    user_state::update_state(path(host), load, change)
}
