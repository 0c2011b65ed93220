//! The user's trust decisions, and which skills they cover. This module does not discover skills.
//!
//! Invariant: a state that cannot be read trusts nothing.

mod gate;
mod pins;
mod store;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use gate::{RepositoryCache, TrustGate};
pub use pins::{installed_pins, pin_installed};
pub(crate) use store::{TrustFile, canonicalize_dir};
pub use store::{TrustRecord, record_for, untrust};

use crate::file_diagnostic::FileDiagnostic;
use crate::host_env::HostEnv;
use crate::policy::ProjectTrust;
use crate::skill::{DiscoveredSkill, Root, UntrustedReason};
use prowess_fs::{Fingerprint, unix_now};

/// Checks whether a skill is still trusted when its files are used, which may be long after the scan.
#[derive(Debug)]
pub(crate) struct TrustCheck {
    trust: ProjectTrust,
    host: HostEnv,
    roots: Vec<Arc<Root>>,
    /// The directories to which symlinks may point according to the configuration.
    configured_targets: Vec<PathBuf>,
    /// The decisions, and the fingerprint that their file had when it was read.
    loaded: Mutex<Option<(Option<Fingerprint>, Arc<TrustDecisions>)>>,
}

impl TrustCheck {
    pub(crate) fn new(
        trust: ProjectTrust,
        host: &HostEnv,
        roots: &[Arc<Root>],
        configured_targets: &[PathBuf],
    ) -> Self {
        let (roots, configured_targets) = (roots.to_vec(), configured_targets.to_vec());
        Self { trust, host: host.clone(), roots, configured_targets, loaded: Mutex::default() }
    }

    /// Returns `true` if the files of a skill may be read now. `hash` returns their tree hash, which pinned trust needs.
    pub(crate) fn may_read(&self, skill: &DiscoveredSkill, hash: impl Fn() -> Option<String>) -> bool {
        self.trust == ProjectTrust::NotNeeded || self.untrusted_reason(skill, hash).is_none()
    }

    /// Returns `true` if the files of a skill may run now. Pinned trust binds even if the policy needs no trust; if the
    /// decisions cannot be read, any skill may be pinned.
    pub(crate) fn may_run(&self, skill: &DiscoveredSkill, hash: impl Fn() -> Option<String>) -> bool {
        match self.untrusted_reason(skill, hash) {
            None => true,
            Some(UntrustedReason::Changed(_) | UntrustedReason::Added(_)) => false,
            Some(_) => self.trust == ProjectTrust::NotNeeded && self.load().problem().is_none(),
        }
    }

    fn untrusted_reason(
        &self,
        skill: &DiscoveredSkill,
        hash: impl Fn() -> Option<String>,
    ) -> Option<UntrustedReason> {
        let needs_trust = skill.root().base().is_some() || skill.link().is_some();
        if !skill.root().is_dir() || !needs_trust {
            return None;
        }
        let decisions = self.load();
        let gate = TrustGate::new(&decisions, &self.roots, &self.configured_targets);
        gate.untrusted_reason(skill, &|_| hash())
    }

    fn load(&self) -> Arc<TrustDecisions> {
        let current = TrustFile::path(&self.host).and_then(|path| Fingerprint::from_path(&path));
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        match &*loaded {
            Some((cached, decisions)) if *cached == current => Arc::clone(decisions),
            _ => {
                let decisions = Arc::new(TrustDecisions::load(&self.host));
                let is_settled = current.is_none_or(|current| current.is_settled(unix_now()));
                *loaded = is_settled.then(|| (current, Arc::clone(&decisions)));
                decisions
            }
        }
    }
}

/// The user's trust decisions.
#[derive(Debug, Default)]
pub(crate) struct TrustDecisions {
    file: TrustFile,
    problem: Option<FileDiagnostic>,
}

impl TrustDecisions {
    pub(crate) fn load(host: &HostEnv) -> Self {
        let (file, problem) = TrustFile::load(host);
        Self { file, problem }
    }

    pub(crate) fn problem(&self) -> Option<&FileDiagnostic> {
        self.problem.as_ref()
    }

    pub(crate) fn has_same_state(&self, other: &Self) -> bool {
        self.file == other.file && self.problem == other.problem
    }

    /// Returns the trusted directories. Symlinks may point there.
    pub(crate) fn trusted_dirs(&self) -> impl Iterator<Item = PathBuf> {
        self.file.folders.iter().filter(|record| record.trusted).map(|record| record.path.clone())
    }
}
