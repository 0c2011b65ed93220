//! Completes the changes of killed processes and removes their leftovers.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use prowess::lock::{self, LockFile};
use prowess_fs::{lock_path, staging_path};

use super::commit::recover_pending;
use super::{InstallTarget, clock, stage};
use crate::error::PackageError;
use prowess_config::edit::file;

impl InstallTarget {
    /// Completes pending changes and removes leftovers, if there are any. Waits for running processes.
    pub fn clean_up(&self) -> Result<(), PackageError> {
        self.clean_up_and_read().map(drop)
    }

    /// Returns the lock file, after [`clean_up`](Self::clean_up).
    pub(crate) fn clean_up_and_read(&self) -> Result<LockFile, PackageError> {
        let mut lock_file = LockFile::read(&self.lock_path)?;
        let leftovers = [lock_path(&self.lock_path), staging_path(&self.lock_path)];
        let mut leftovers = leftovers.into_iter().chain(self.plugin_config.as_deref().map(staging_path));
        let has_leftovers = lock_file.pending.is_some()
            || leftovers.any(|path| fs::symlink_metadata(path).is_ok())
            || self.stage_roots(&lock_file).iter().any(|root| stage::abandoned_stages(root).next().is_some());
        if has_leftovers {
            let _guard = self.lock()?;
            self.clean_up_locked()?;
            lock_file = LockFile::read(&self.lock_path)?;
        }
        // The state directory has its own lock. Errors are ignored: leftovers there do no harm.
        let _ = lock::remove_stale_temp_files(&self.host);
        Ok(lock_file)
    }

    /// Cleans up while the caller holds the lock; see [`clean_up`](Self::clean_up).
    pub(crate) fn clean_up_locked(&self) -> Result<(), PackageError> {
        // A removed skill may have been the only one in its directory.
        let mut roots = self.stage_roots(&LockFile::read(&self.lock_path)?);
        recover_pending(self, &clock::iso_now())?;
        roots.extend(self.stage_roots(&LockFile::read(&self.lock_path)?));
        for root in roots {
            stage::remove_abandoned(&root);
        }
        // If removing fails, the next write replaces the file.
        let _ = fs::remove_file(staging_path(&self.lock_path));
        if let Some(config) = &self.plugin_config {
            let _ = file::remove_stale_temp_file(config);
        }
        Ok(())
    }

    /// Returns the directories that may contain stages.
    fn stage_roots(&self, lock: &LockFile) -> BTreeSet<PathBuf> {
        let pending = lock.pending.iter().flat_map(|pending| &pending.changes).map(|change| &change.folder);
        let dirs = lock.skills.iter().map(|locked| &locked.folder).chain(pending);
        let parents = dirs.filter_map(|dir| self.unresolved_dir_for_key(dir).ok()?.parent().map(Into::into));
        let mut roots: BTreeSet<PathBuf> = parents.chain([self.root.clone()]).collect();
        roots.retain(|root| {
            self.project.as_deref().is_none_or(|base| super::resolve_within(base, root).is_ok())
        });
        roots
    }
}
