//! Accepts the edits of installed skills. Loading verifies installed skills against the lock file, so an edit
//! through this crate is recorded as accepted, but earlier changes by others are not.

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
    /// is the skill's directory, `real` the same without symlinks, and `file` the path, the mode and the contents
    /// after the change.
    pub(super) fn accept(
        target: &InstallTarget,
        dir: &Path,
        real: &Path,
        file: (&str, bool, &[u8]),
    ) -> Result<Self, UserSkillError> {
        let unchanged = Self { is_changed: false, previous: None };
        let lock = LockFile::read(&target.lock_path).map_err(PackageError::from)?;
        let Some(locked) = lock.entry(&target.lock_key(dir)) else { return Ok(unchanged) };
        let before = lock::accepted_tree(&target.host, real);
        let Ok(mut tree) = HashedTree::from_resolved_dir(real) else { return Ok(unchanged) };
        let current = tree.hash();
        if current != locked.tree && before.as_ref() != Some(&current) {
            return Ok(unchanged);
        }
        let (path, executable, bytes) = file;
        tree.replace(path, executable, bytes);
        let accepted = lock::accept_tree(&target.host, real, &tree.hash());
        accepted.map_err(PackageError::io("accept", real))?;
        Ok(Self { is_changed: true, previous: before })
    }

    /// Restores the previous acceptance.
    pub(super) fn revert(&self, host: &HostEnv, real: &Path) {
        if !self.is_changed {
            return;
        }
        // Accepting a tree that does not exist does no harm.
        let _ = match &self.previous {
            Some(before) => lock::accept_tree(host, real, before),
            None => lock::forget_accepted(host, [real]),
        };
    }
}
