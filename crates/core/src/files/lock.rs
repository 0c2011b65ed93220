//! One process at a time.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags};

/// Waits until no other process changes the file, and holds it until the result is dropped. The lock lies beside the
/// file, which itself is replaced whole.
pub fn lock(path: &Path) -> io::Result<File> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        // Opening a FIFO would wait for somebody to read from it.
        .custom_flags(OFlags::NONBLOCK.union(OFlags::NOFOLLOW).bits().cast_signed())
        .open(path.with_extension("lock"))?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}
