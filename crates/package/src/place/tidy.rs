//! What a killed process left, finished and cleared away by the next one.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use prowess::lock::{self, Lock};
use prowess_fs::{busy, staged};

use super::commit::recover;
use super::{Place, clock, stage};
use crate::error::PackageError;
use prowess_config::edit::file;

impl Place {
    /// Finishes what a killed process began and clears what it left, if there is anything. Waits for whoever is at work.
    pub fn tidy(&self) -> Result<(), PackageError> {
        self.tidied().map(drop)
    }

    /// The lock, after [`tidy`](Self::tidy).
    pub(crate) fn tidied(&self) -> Result<Lock, PackageError> {
        let mut read = Lock::read(&self.lock)?;
        let beside = [busy(&self.lock), staged(&self.lock)];
        let mut beside = beside.into_iter().chain(self.plugins.as_deref().map(staged));
        let is_left = read.pending.is_some()
            || beside.any(|path| fs::symlink_metadata(path).is_ok())
            || self.roots(&read).iter().any(|root| stage::left(root).next().is_some());
        if is_left {
            let _guard = self.guard()?;
            self.clear()?;
            read = Lock::read(&self.lock)?;
        }
        // The state has files of its own to lock. What cannot be removed there is in nobody's way.
        let _ = lock::clear(&self.world);
        Ok(read)
    }

    /// The same for whoever holds the guard.
    pub(crate) fn clear(&self) -> Result<(), PackageError> {
        // A removed skill was perhaps the only one that the lock had in its directory.
        let mut roots = self.roots(&Lock::read(&self.lock)?);
        recover(self, &clock::now())?;
        roots.extend(self.roots(&Lock::read(&self.lock)?));
        for root in roots {
            stage::sweep(&root);
        }
        // What cannot be removed is replaced by whoever writes there next.
        let _ = fs::remove_file(staged(&self.lock));
        if let Some(config) = &self.plugins {
            let _ = file::clear(config);
        }
        Ok(())
    }

    /// The directories that stages are made in.
    fn roots(&self, lock: &Lock) -> BTreeSet<PathBuf> {
        let pending = lock.pending.iter().flat_map(|pending| &pending.changes).map(|change| &change.folder);
        let folders = lock.skills.iter().map(|locked| &locked.folder).chain(pending);
        let parents = folders.filter_map(|folder| self.joined(folder).ok()?.parent().map(Into::into));
        let mut roots: BTreeSet<PathBuf> = parents.chain([self.root.clone()]).collect();
        roots.retain(|root| self.base.as_deref().is_none_or(|base| super::within(base, root).is_ok()));
        roots
    }
}
