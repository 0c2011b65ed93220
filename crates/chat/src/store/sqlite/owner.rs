//! Detects whether the process that writes a turn, its owner, is alive. Each process locks its own file next to the store; the
//! system releases the lock when the process ends in any way, and never earlier, not even while a laptop sleeps.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use prowess_fs::{create_private, create_private_dir_all, file_id};

use super::super::limits::{is_id, new_id};

/// The lock of this process.
pub(super) struct OwnerLock {
    id: String,
    path: PathBuf,
    _lock: File,
}

impl OwnerLock {
    pub(super) fn acquire(store: &Path) -> io::Result<Self> {
        let dir = owners_dir(store);
        create_private_dir_all(&dir)?;
        remove_stale(&dir);
        loop {
            let id = new_id();
            let path = dir.join(&id);
            let lock = create_private(&path)?;
            lock.lock()?;
            // Another process may have removed the file before it was locked.
            if fs::metadata(&path).is_ok_and(|metadata| is_same_file(&metadata, &lock)) {
                return Ok(Self { id, path, _lock: lock });
            }
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns `true` if the process of this owner has exited.
pub(super) fn is_gone(store: &Path, owner: &str) -> io::Result<bool> {
    if !is_id(owner) {
        return Ok(true);
    }
    match File::open(owners_dir(store).join(owner)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(file) => is_free(&file),
    }
}

/// Tries a shared lock, so that two processes that check do not mistake each other for the owner.
fn is_free(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the files of exited processes. Files that cannot be removed do no harm.
fn remove_stale(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        if is_free(&file).unwrap_or(false) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_same_file(metadata: &fs::Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|locked| file_id(&locked) == file_id(metadata))
}

fn owners_dir(store: &Path) -> PathBuf {
    let mut name = store.file_name().map_or_else(OsString::new, OsString::from);
    name.push("-owners");
    store.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_alive_while_its_lock_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("chats.sqlite3");
        let (first, other) = (OwnerLock::acquire(&store).unwrap(), OwnerLock::acquire(&store).unwrap());
        assert!(!is_gone(&store, first.id()).unwrap() && !is_gone(&store, other.id()).unwrap());
        let id = first.id().to_owned();
        drop(first);
        assert!(is_gone(&store, &id).unwrap() && !is_gone(&store, other.id()).unwrap());
        assert!(is_gone(&store, "../chats.sqlite3").unwrap());
    }

    #[test]
    fn files_of_killed_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("chats.sqlite3");
        let stale = super::owners_dir(&store).join("0123");
        fs::create_dir_all(super::owners_dir(&store)).unwrap();
        fs::write(&stale, "").unwrap();
        assert!(is_gone(&store, "0123").unwrap());
        let _owner = OwnerLock::acquire(&store).unwrap();
        assert!(!stale.exists());
    }
}
