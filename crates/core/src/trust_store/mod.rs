//! The user's trust decisions, and which skills they cover. This module does not discover skills.
//!
//! Invariant: a state that cannot be read trusts nothing.

mod gate;
mod pins;
mod store;

use std::path::PathBuf;

pub(crate) use gate::{Repositories, TrustGate};
pub use pins::{installed_pins, pin_installed};
pub(crate) use store::{TrustFile, canonicalize_dir, now};
pub use store::{TrustRecord, record_for, untrust};

use crate::file_diagnostic::FileDiagnostic;
use crate::host_env::HostEnv;
use crate::policy::ProjectTrust;
use crate::skill::DiscoveredSkill;

/// Returns `true` if the trust in a skill still holds: it was not revoked, and the skill matches the hash that it is pinned
/// to. A state that cannot be read trusts nothing, unless the policy does not need trust.
pub(crate) fn is_still_trusted(
    found: &DiscoveredSkill,
    tree: &str,
    trust: ProjectTrust,
    host: &HostEnv,
) -> bool {
    let folder = found.canonical_dir();
    let (state, problem) = TrustFile::load(host);
    match state.nearest_record(&folder) {
        Some(record) if record.trusted && record.pinned => {
            record.is_pinned_to(&folder, Some(tree)).unwrap_or(false)
        }
        _ if trust == ProjectTrust::NotNeeded => true,
        Some(record) => record.trusted,
        // The target of a symlink may have no decision of its own; the project that it is in has one.
        None => {
            let base = found.root().base().and_then(|base| std::fs::canonicalize(base).ok());
            let record = base.as_ref().and_then(|base| state.nearest_record(base));
            problem.is_none() && record.is_some_and(|record| record.trusted)
        }
    }
}

/// The user's trust decisions.
#[derive(Debug, Default)]
pub(crate) struct TrustDecisions {
    state: TrustFile,
    problem: Option<FileDiagnostic>,
}

impl TrustDecisions {
    pub(crate) fn load(host: &HostEnv) -> Self {
        let (state, problem) = TrustFile::load(host);
        Self { state, problem }
    }

    pub(crate) fn problem(&self) -> Option<&FileDiagnostic> {
        self.problem.as_ref()
    }

    pub(crate) fn has_same_state(&self, other: &Self) -> bool {
        self.state == other.state && self.problem == other.problem
    }

    /// Returns the trusted directories. Symlinks may point there.
    pub(crate) fn trusted_dirs(&self) -> impl Iterator<Item = PathBuf> {
        self.state.folders.iter().filter(|record| record.trusted).map(|record| record.path.clone())
    }
}
