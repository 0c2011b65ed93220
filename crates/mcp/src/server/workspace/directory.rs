//! Files below a directory of the user.
//!
//! Clients can list and read regular files whose path has no component that starts with a dot: such files hold settings and
//! secrets. No symlink is followed, not even one that replaces a parent of the directory after the start.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use prowess::ErrorCode;
use prowess::format::hidden::escape_and_truncate;
use prowess::resources::mime_type_for_path;
use prowess_archive::InnerPath;
use prowess_fs::{Dir, EntryKind, Errno, ReadError, WalkEvent, WalkLimits, read_whole, walk};
use prowess_tools::WorkspaceError;

use super::{FILE_BYTES_MAX, ServedFile, too_large};

/// The limits of listing the directory.
const LIMITS: WalkLimits = WalkLimits { depth: 16, entries: 20_000, enter: is_visible };

/// The maximum number of files that are listed.
const LISTED_MAX: usize = 2_000;

/// A directory of the user in which scripts work.
#[derive(Debug)]
pub(super) struct SharedDirectory(PathBuf);

impl SharedDirectory {
    pub(super) fn new(dir: &Path) -> Self {
        Self(dir.to_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the files that clients can read, sorted by path, up to a limit.
    pub(super) fn list(&self) -> Result<Vec<ServedFile>, WorkspaceError> {
        let dir = self.open()?;
        let mut files = Vec::new();
        let Ok(()) = walk::<Infallible>(&dir, LIMITS, &mut |event| {
            if let WalkEvent::Entry { dir, name, path, kind: EntryKind::File } = event
                && files.len() < LISTED_MAX
                && let Some(path) = path.to_str().filter(|path| is_served(path))
                && let Ok(stat) = dir.stat(Path::new(name))
            {
                let media_type = mime_type_for_path(path).map(str::to_owned);
                files.push(ServedFile { path: path.to_owned(), size: stat.size(), media_type });
            }
            Ok(())
        });
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Reads a file that clients can read.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        let absent = || WorkspaceError::NotFound(escape_and_truncate(path));
        if !is_served(path) {
            return Err(absent());
        }
        let (file, stat) = self.open()?.open_file(Path::new(path)).map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV => absent(),
            error => unavailable(error.into()),
        })?;
        if !stat.is_file() {
            let message = format!("{} is not a regular file", escape_and_truncate(path));
            return Err(WorkspaceError::Refused { code: ErrorCode::InvalidParam, message });
        }
        read_whole(&file, &stat, FILE_BYTES_MAX).map_err(|error| match error {
            ReadError::TooLarge(_) => too_large(path),
            error => unavailable(std::io::Error::other(error)),
        })
    }

    fn open(&self) -> Result<Dir, WorkspaceError> {
        Dir::open_resolved(&self.0).map_err(|error| unavailable(error.into()))
    }
}

/// Returns `true` if clients can read a file with this path.
pub(super) fn is_served(path: &str) -> bool {
    is_visible(Path::new(path)) && InnerPath::parse(path.as_bytes()).is_ok()
}

/// Returns `true` if no component of a path starts with a dot.
fn is_visible(path: &Path) -> bool {
    path.iter().all(|component| !component.as_encoded_bytes().starts_with(b"."))
}

fn unavailable(error: std::io::Error) -> WorkspaceError {
    WorkspaceError::Unavailable(Box::new(error))
}
