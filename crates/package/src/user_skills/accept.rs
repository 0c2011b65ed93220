//! Accepts the edits of installed skills. An installed skill is loaded only if its files match the lock file or are
//! the ones that the user accepted, so each edit through this crate records the new files as accepted. Earlier
//! changes by other programs are not accepted.

use std::path::Path;

use prowess::lock::{self, LockFile};
use prowess::{HashedTree, HostEnv};

use super::UserSkillError;
use crate::error::PackageError;
use crate::install_target::InstallTarget;

/// An accepted change, which can be reverted.
pub(super) struct AcceptedChange {
    is_changed: bool,
    previous: Option<String>,
}

impl AcceptedChange {
    /// Accepts a change before it is made, so that a killed process leaves no change without acceptance. `dir`
    /// is the skill's directory, `canonical` the same without symlinks, and `change` makes the change in a list of the
    /// files.
    pub(super) fn accept(
        target: &InstallTarget,
        dir: &Path,
        canonical: &Path,
        change: impl FnOnce(&mut HashedTree),
    ) -> Result<Self, UserSkillError> {
        let unchanged = Self { is_changed: false, previous: None };
        let lock = LockFile::read(&target.lock_path).map_err(PackageError::from)?;
        let Some(locked) = lock.entry(&target.lock_key(dir)) else { return Ok(unchanged) };
        let previous = lock::accepted_tree(&target.host, canonical);
        let Ok(mut tree) = HashedTree::from_resolved_dir(canonical) else { return Ok(unchanged) };
        let current = tree.hash();
        if current != locked.tree && previous.as_ref() != Some(&current) {
            return Ok(unchanged);
        }
        change(&mut tree);
        let accepted = lock::accept_tree(&target.host, canonical, &tree.hash());
        accepted.map_err(PackageError::io("accept", canonical))?;
        Ok(Self { is_changed: true, previous })
    }

    /// Restores the previous acceptance.
    pub(super) fn revert(&self, host: &HostEnv, canonical: &Path) {
        if !self.is_changed {
            return;
        }
        // Accepting a tree that does not exist does no harm.
        let _ = match &self.previous {
            Some(previous) => lock::accept_tree(host, canonical, previous),
            None => lock::forget_accepted(host, [canonical]),
        };
    }
}
