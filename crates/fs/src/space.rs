//! How much room a file system has.

use std::io;
use std::path::Path;

/// Returns the number of bytes that can still be written on the file system of `path`.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// assert!(prowess_fs::free_space(std::path::Path::new("."))? > 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// If `path` does not exist or its file system does not answer.
#[cfg(unix)]
pub fn free_space(path: &Path) -> io::Result<u64> {
    let system = rustix::fs::statvfs(path)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns the number of bytes that can still be written on the file system of `path`: unknown here, so no limit.
///
/// # Errors
///
/// If `path` does not exist.
#[cfg(not(unix))]
pub fn free_space(path: &Path) -> io::Result<u64> {
    path.metadata().map(|_| u64::MAX)
}
