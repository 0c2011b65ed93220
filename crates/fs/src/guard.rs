//! One process at a time changes what is installed in one place.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use crate::lock::{is_at, open as open_lock};

/// Held while a place is changed. Its file goes away with it: nothing is left in a project.
#[derive(Debug)]
pub struct Guard {
    path: PathBuf,
    file: File,
}

impl Guard {
    /// Waits until nobody else changes what this lock speaks for.
    pub fn take(lock: &Path) -> io::Result<Self> {
        let folder = lock.parent().unwrap_or(Path::new("/"));
        let path = busy(lock);
        fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
        loop {
            let file = open_lock(&path)?;
            rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
            // Whoever held it before took the file away with it: then this is nobody's lock any more.
            if is_at(&file, &path) {
                return Ok(Self { path, file });
            }
        }
    }
}

/// The file that is held.
pub fn busy(lock: &Path) -> PathBuf {
    let name = lock.file_name().unwrap_or_default().to_string_lossy();
    lock.with_file_name(format!(".{name}.busy"))
}

impl Drop for Guard {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            // Whoever waits finds that the file is gone, and makes another.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Locks a file that stays, if nobody holds it.
pub fn try_hold(path: &Path) -> io::Result<Option<File>> {
    let file = open_lock(path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn many_at_once_go_one_after_the_other_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("skills.lock");
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _guard = Guard::take(&lock).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
