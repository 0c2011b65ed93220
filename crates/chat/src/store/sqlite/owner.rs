//! Which processes live. Each holds a lock on a file of its own beside the store; the system gives it back when the process
//! ends, however it ends, and never before, not even while a laptop sleeps.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use prowess_fs::{create_private, identity, make_private_folders};

use super::super::limits::{is_id, new_id};

/// This process, as long as it is held.
pub(super) struct Owner {
    id: String,
    path: PathBuf,
    _lock: File,
}

impl Owner {
    pub(super) fn enter(store: &Path) -> io::Result<Self> {
        let folder = folder(store);
        make_private_folders(&folder)?;
        clear(&folder);
        loop {
            let id = new_id();
            let path = folder.join(&id);
            let lock = create_private(&path)?;
            lock.lock()?;
            // Somebody may have cleared it away before it was locked.
            if fs::metadata(&path).is_ok_and(|there| same(&there, &lock)) {
                return Ok(Self { id, path, _lock: lock });
            }
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the process of this owner is gone.
pub(super) fn is_gone(store: &Path, owner: &str) -> io::Result<bool> {
    if !is_id(owner) {
        return Ok(true);
    }
    match File::open(folder(store).join(owner)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(file) => is_free(&file),
    }
}

/// Shared, so that two who look do not take each other for an owner.
fn is_free(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the files of processes that are gone. What cannot be removed stays; it says the same.
fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        if is_free(&file).unwrap_or(false) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn same(there: &fs::Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|ours| identity(&ours) == identity(there))
}

fn folder(store: &Path) -> PathBuf {
    let mut name = store.file_name().map_or_else(OsString::new, OsString::from);
    name.push("-owners");
    store.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_lives_as_long_as_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("chats.sqlite3");
        let (one, other) = (Owner::enter(&store).unwrap(), Owner::enter(&store).unwrap());
        assert!(!is_gone(&store, one.id()).unwrap() && !is_gone(&store, other.id()).unwrap());
        let id = one.id().to_owned();
        drop(one);
        assert!(is_gone(&store, &id).unwrap() && !is_gone(&store, other.id()).unwrap());
        assert!(is_gone(&store, "../chats.sqlite3").unwrap());
    }

    #[test]
    fn what_a_killed_process_left_is_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("chats.sqlite3");
        let left = super::folder(&store).join("0123");
        fs::create_dir_all(super::folder(&store)).unwrap();
        fs::write(&left, "").unwrap();
        assert!(is_gone(&store, "0123").unwrap());
        let _owner = Owner::enter(&store).unwrap();
        assert!(!left.exists());
    }
}
