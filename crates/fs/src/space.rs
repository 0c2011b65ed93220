//! Free space of a file system.

use std::io;
use std::path::Path;

/// Returns the number of bytes available on the file system of `path`.
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
/// If `path` does not exist or the file system does not report its free space.
#[cfg(unix)]
pub fn free_space(path: &Path) -> io::Result<u64> {
    let system = rustix::fs::statvfs(path)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns the number of bytes available on the file system of `path`. Unknown on this system, so it is
/// unlimited.
///
/// # Errors
///
/// If `path` does not exist.
#[cfg(not(unix))]
pub fn free_space(path: &Path) -> io::Result<u64> {
    path.metadata().map(|_| u64::MAX)
}
