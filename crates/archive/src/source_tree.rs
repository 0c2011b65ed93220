//! The files of a source: names, kinds and sizes first, content on demand.

use std::sync::Arc;

use prowess_format::ErrorCode;
use prowess_fs::Errno;

/// The files of a source, which are not installed yet.
pub trait SourceTree: Send + Sync {
    /// Returns every file and link, sorted by path; directories are implied. Names are unchecked: convert them
    /// to an [`InnerPath`](crate::InnerPath) before use.
    fn entries(&self) -> &[SourceEntry];

    /// Reads the file at this index of [`SourceTree::entries`], at most [`limits::FILE_MAX`](crate::limits)
    /// bytes.
    fn read_entry(&self, index: usize) -> Result<Vec<u8>, SourceReadError>;
}

/// An entry of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEntry {
    /// The path relative to the root of the source, with `/`, unchecked.
    pub path: Box<[u8]>,
    /// The kind of the entry.
    pub kind: SourceEntryKind,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceEntryKind {
    /// A regular file.
    File {
        /// Whether it is executable.
        executable: bool,
        /// The claimed size.
        bytes: u64,
    },
    /// A symbolic or hard link.
    Link,
    /// A git submodule.
    Submodule,
    /// A FIFO, a socket or a device.
    Special,
}

/// Why a file of a source could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct SourceReadError {
    /// The error code.
    pub code: ErrorCode,
    /// The message for users.
    pub message: Arc<str>,
}

/// Returns the error code for an error of the file system.
pub fn errno_to_code(error: Errno) -> ErrorCode {
    match error {
        Errno::NOENT | Errno::NOTDIR => ErrorCode::NotFound,
        // A symlink, or a path that escapes its directory.
        Errno::LOOP | Errno::XDEV => ErrorCode::AccessDenied,
        Errno::ACCESS | Errno::PERM => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    }
}
