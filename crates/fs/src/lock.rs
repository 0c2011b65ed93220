//! Locks between processes.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Waits for an exclusive lock on the file, which is held until the result is dropped. The lock is a separate
/// file beside it, because the file itself is replaced atomically.
pub fn lock(path: &Path) -> io::Result<File> {
    lock_blocking(&path.with_extension("lock"), 0o700)
}

/// Runs `remove` and deletes the lock file of `path`, unless a process holds the lock.
pub fn remove_unless_locked(path: &Path, remove: impl FnOnce()) {
    let lock_file = path.with_extension("lock");
    if let Ok(Some(lock)) = try_lock(&lock_file)
        && is_same_file(&lock, &lock_file)
    {
        remove();
        let _ = fs::remove_file(&lock_file);
    }
}

/// Locks a permanent file, or returns `None` if another process holds the lock.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = open_lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A lock that is held while a directory is changed. Its file is deleted on drop, so that nothing is left in a
/// project.
#[derive(Debug)]
pub struct LockGuard {
    path: PathBuf,
    file: File,
}

impl LockGuard {
    /// Waits until no other process changes what `lock` describes.
    pub fn acquire(lock: &Path) -> io::Result<Self> {
        let path = lock_path(lock);
        Ok(Self { file: lock_blocking(&path, 0o755)?, path })
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        if is_same_file(&self.file, &self.path) {
            // A waiting process notices that the file is gone, and creates a new one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the path of the file that a [`LockGuard`] holds for `lock`.
pub fn lock_path(lock: &Path) -> PathBuf {
    let name = lock.file_name().unwrap_or_default().to_string_lossy();
    lock.with_file_name(format!(".{name}.busy"))
}

fn lock_blocking(path: &Path, dir_mode: u32) -> io::Result<File> {
    let dir = path.parent().ok_or_else(|| io::Error::other("the path has no parent directory"))?;
    fs::DirBuilder::new().recursive(true).mode(dir_mode).create(dir)?;
    loop {
        let file = open_lock_file(path)?;
        file.lock()?;
        // Another process may have deleted the file in the meantime; then the lock is useless.
        if is_same_file(&file, path) {
            return Ok(file);
        }
    }
}

/// Opens the lock file, creating it if necessary. Does not block if it is a FIFO.
fn open_lock_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).bits().cast_signed();
    File::options().create(true).truncate(false).write(true).mode(0o600).custom_flags(flags).open(path)
}

/// Returns `true` if the open file is the one at the path.
fn is_same_file(file: &File, path: &Path) -> bool {
    let have_same_identity = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(current)) => have_same_identity(&open, &current),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.index");
        let held = lock(&path).unwrap();
        remove_unless_locked(&path, || unreachable!("the lock is held"));
        assert!(is_same_file(&held, &path.with_extension("lock")));
        drop(held);
        let mut removed = false;
        remove_unless_locked(&path, || removed = true);
        assert!(removed && !path.with_extension("lock").exists());
    }

    #[test]
    fn a_lock_file_deleted_while_waiting_is_locked_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.index");
        let inside = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _lock = lock(&path).unwrap();
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
            scope.spawn(|| (0..200).for_each(|_| remove_unless_locked(&path, || ())));
        });
    }

    #[test]
    fn lock_guards_are_exclusive_and_leave_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("skills.lock");
        let inside = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _guard = LockGuard::acquire(&lock).unwrap();
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
