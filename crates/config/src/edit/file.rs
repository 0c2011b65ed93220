//! Edits a configuration file under a lock.
//!
//! Invariants: the file is always complete, either old or new. It keeps its mode and owner. If it is a symlink,
//! the symlink stays and its target is replaced.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use prowess_fs::{AtomicFile, SyncPolicy, create_dir_all, failed_path, staging_path};

use super::EditError;

/// The default maximum size of a file.
pub const FILE_MAX: u64 = 256 * 1024;

/// Whether symlinks on the path of the file are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymlinkPolicy<'p> {
    /// The user's file may be a symlink.
    Followed,
    /// A project's file must be inside this directory: a symlink could point to files outside the project.
    Rejected(&'p Path),
}

/// The reason why a file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditFileError {
    /// Its text could not be changed.
    #[error("{}: {source}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: EditError,
    },
    /// It is not a valid configuration file.
    #[error("{} {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The reason, to follow its name.
        reason: String,
    },
    /// Another process changed it at the same time.
    #[error("{} was changed by another process; nothing was written", path.display())]
    ConcurrentChange {
        /// The file.
        path: PathBuf,
    },
    /// An I/O error.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation: "read" or "write".
        operation: &'static str,
        /// The cause.
        source: io::Error,
    },
}

/// Reads the text of a file; `None` if it does not exist.
pub fn read_text(path: &Path) -> Result<Option<String>, EditFileError> {
    read_text_within(path, FILE_MAX)
}

/// Reads the text of a file up to a size, for configuration files that hold more than settings. See
/// [`read_text`].
pub fn read_text_within(path: &Path, bytes_max: u64) -> Result<Option<String>, EditFileError> {
    let io = |source| EditFileError::Io { path: path.to_owned(), operation: "read", source };
    let unsupported =
        |reason: &str| EditFileError::Unsupported { path: path.to_owned(), reason: reason.to_owned() };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
        // Opening a FIFO would block.
        Ok(metadata) if !metadata.is_file() => return Err(unsupported("is not a regular file")),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(bytes_max + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > bytes_max {
        return Err(unsupported(&format!("has more than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| unsupported("is not UTF-8"))
}

/// Edits a file, which is created if it does not exist. Returns `true` if anything changed.
pub fn edit_file(
    path: &Path,
    symlinks: SymlinkPolicy<'_>,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<bool, EditFileError> {
    let failed = |source| EditFileError::Edit { path: path.to_owned(), source };
    edit_file_within(path, symlinks, FILE_MAX, |before| {
        let after = edit(before.unwrap_or_default()).map_err(failed)?;
        Ok((after != before.unwrap_or_default()).then_some(after))
    })
}

/// Edits a file up to a size, which is created if it does not exist. If `edit` returns `None`, the file stays;
/// if it returns an empty text, the file is removed, or emptied if it is the target of a symlink.
pub fn edit_file_within(
    path: &Path,
    symlinks: SymlinkPolicy<'_>,
    bytes_max: u64,
    edit: impl FnOnce(Option<&str>) -> Result<Option<String>, EditFileError>,
) -> Result<bool, EditFileError> {
    let target = resolve_target(path, symlinks)?;
    let io = |source| EditFileError::Io { path: path.to_owned(), operation: "write", source };
    let read = |path: &Path| read_text_within(path, bytes_max);
    let dir = target.parent().ok_or_else(|| io(io::Error::other("the path has no parent directory")))?;
    if read(&target)?.is_none() {
        create_dir_all(dir).map_err(io)?;
    }
    // Lock the directory: a separate lock file would clutter the user's project.
    let lock = File::open(dir).map_err(io)?;
    lock.lock().map_err(io)?;
    let before = read(&target)?;
    let Some(after) = edit(before.as_deref())? else { return Ok(false) };
    if after.is_empty() && target == path {
        if before.is_some() {
            fs::remove_file(&target).map_err(io)?;
            lock.sync_all().map_err(io)?;
        }
        return Ok(before.is_some());
    }
    let staged = AtomicFile::with_existing_metadata(&target, after.as_bytes()).map_err(|source| {
        let failed = failed_path(&target, &source);
        let path = if failed == target { path.to_owned() } else { failed };
        EditFileError::Io { path, operation: "write", source }
    })?;
    if read(&target)? != before {
        return Err(EditFileError::ConcurrentChange { path: path.to_owned() });
    }
    staged.commit(SyncPolicy::Sync).map_err(io)?;
    Ok(true)
}

/// Removes the temporary file of a killed process.
pub fn remove_stale_temp_file(path: &Path) -> io::Result<()> {
    let Ok(target) = resolve_target(path, SymlinkPolicy::Followed) else { return Ok(()) };
    let staged = staging_path(&target);
    if fs::symlink_metadata(&staged).is_err() {
        return Ok(());
    }
    let dir = File::open(staged.parent().unwrap_or(Path::new("/")))?;
    dir.lock()?;
    fs::remove_file(staged)
}

/// Returns the path of the file, or of the target of a symlink, which may not exist.
fn resolve_target(path: &Path, symlinks: SymlinkPolicy<'_>) -> Result<PathBuf, EditFileError> {
    let unsupported =
        |reason: &str| EditFileError::Unsupported { path: path.to_owned(), reason: reason.to_owned() };
    if let SymlinkPolicy::Rejected(dir) = symlinks {
        let linked = path.ancestors().take_while(|ancestor| *ancestor != dir).any(Path::is_symlink);
        return if linked {
            Err(unsupported("is behind a symlink, which is not followed"))
        } else {
            Ok(path.to_owned())
        };
    }
    let mut target = path.to_owned();
    // Linux follows at most 40 symlinks, too.
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().map_or(next.clone(), |dir| dir.join(&next)),
            Err(_) => return Ok(target),
        }
    }
    Err(unsupported("is a symlink loop"))
}
