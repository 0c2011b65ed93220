//! One process at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Waits until no other process changes the file, and holds it until the result is dropped. The lock lies beside the
/// file, which itself is replaced whole.
pub fn lock(path: &Path) -> io::Result<File> {
    hold(&path.with_extension("lock"), 0o700)
}

/// Runs `remove` and removes the lock of `path`, unless a process holds that lock.
pub fn remove_unless_locked(path: &Path, remove: impl FnOnce()) {
    let beside = path.with_extension("lock");
    if let Ok(Some(lock)) = try_hold(&beside)
        && is_at(&lock, &beside)
    {
        remove();
        let _ = fs::remove_file(&beside);
    }
}

/// Locks a file that stays, if no process holds it.
pub fn try_hold(path: &Path) -> io::Result<Option<File>> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Held while a place is changed. Its file goes away with it: nothing is left in a project.
#[derive(Debug)]
pub struct Guard {
    path: PathBuf,
    file: File,
}

impl Guard {
    /// Waits until no other process changes what this lock file describes.
    pub fn take(lock: &Path) -> io::Result<Self> {
        let path = busy(lock);
        Ok(Self { file: hold(&path, 0o755)?, path })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            // A process that waits finds that the file is gone, and makes another.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The file that a [`Guard`] holds.
pub fn busy(lock: &Path) -> PathBuf {
    let name = lock.file_name().unwrap_or_default().to_string_lossy();
    lock.with_file_name(format!(".{name}.busy"))
}

fn hold(path: &Path, folder_mode: u32) -> io::Result<File> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    fs::DirBuilder::new().recursive(true).mode(folder_mode).create(folder)?;
    loop {
        let file = open(path)?;
        file.lock()?;
        // Another process may have removed it meanwhile: then it locks nothing.
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

/// A file to lock, made where it is missing. Opening a FIFO would block until it has a reader.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).bits().cast_signed();
    File::options().create(true).truncate(false).write(true).mode(0o600).custom_flags(flags).open(path)
}

/// Whether an open file is the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(there)) => same(&held, &there),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.index");
        let held = lock(&path).unwrap();
        remove_unless_locked(&path, || unreachable!("it is in use"));
        assert!(is_at(&held, &path.with_extension("lock")));
        drop(held);
        let mut removed = false;
        remove_unless_locked(&path, || removed = true);
        assert!(removed && !path.with_extension("lock").exists());
    }

    #[test]
    fn a_lock_that_was_removed_while_it_was_waited_for_is_taken_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.index");
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
    fn many_at_once_go_one_after_the_other_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("skills.lock");
        let inside = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _guard = Guard::take(&lock).unwrap();
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
