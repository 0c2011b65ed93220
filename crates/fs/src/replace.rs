//! Replacing a file whole: the old bytes or the new ones, never half of either.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Writes `bytes` beside `path`, makes them durable, and renames them into place. Only the user can read the result.
///
/// The caller holds the lock of `path`, so there is one name for what is staged: whatever a killed process left there is
/// removed by the next one, and nothing piles up.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_soon(path, bytes, true)?;
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

/// The same without waiting for the disk, where `durable` is false: for what can be made again, and has sums of its own by
/// which it is known to be whole.
pub fn replace_soon(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let staged = path.with_extension("new");
    // There is nothing to remove where nobody was killed.
    let _ = fs::remove_file(&staged);
    let written = write(&staged, bytes, durable).and_then(|()| fs::rename(&staged, path));
    if written.is_err() {
        // What was staged is of no use to anyone; that it cannot be removed changes nothing.
        let _ = fs::remove_file(&staged);
    }
    written
}

/// Removes what a killed process staged for `path`, if there is anything.
pub fn clear(path: &Path) -> io::Result<()> {
    let staged = path.with_extension("new");
    if fs::symlink_metadata(&staged).is_err() {
        return Ok(());
    }
    let _lock = crate::lock(path)?;
    match fs::remove_file(&staged) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    if durable { file.sync_all() } else { Ok(()) }
}
