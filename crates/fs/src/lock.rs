//! One process at a time.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags};

/// Waits until no other process changes the file, and holds it until the result is dropped. The lock lies beside the
/// file, which itself is replaced whole.
pub fn lock(path: &Path) -> io::Result<File> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let beside = path.with_extension("lock");
    loop {
        let lock = open(&beside)?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
        // Another process may have removed it meanwhile: then it locks nothing.
        if is_at(&lock, &beside) {
            return Ok(lock);
        }
    }
}

/// Runs `remove` and removes the lock of `path`, unless a process holds that lock.
pub fn remove_unless_locked(path: &Path, remove: impl FnOnce()) {
    let beside = path.with_extension("lock");
    let Ok(lock) = open(&beside) else { return };
    let is_held = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err();
    if !is_held && is_at(&lock, &beside) {
        remove();
        let _ = fs::remove_file(&beside);
    }
}

/// A file to lock, made where it is missing. Opening a FIFO would block until it has a reader.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).bits().cast_signed();
    File::options().create(true).truncate(false).write(true).mode(0o600).custom_flags(flags).open(path)
}

/// Whether an open file is the one at a path.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
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
}
