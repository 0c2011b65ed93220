//! What a source holds, wherever it is: names, kinds and sizes first, bytes on demand.

use std::sync::Arc;

use prowess_format::ErrorCode;
use prowess_fs::Errno;

/// The files of a source. Nothing of it is on disk where skills are.
pub trait Tree: Send + Sync {
    /// Every file and link, sorted by path; folders are implied. The names are as the source has them: whoever uses
    /// one makes it an [`InnerPath`](crate::InnerPath) first.
    fn entries(&self) -> &[Entry];

    /// All bytes of the file at this place of [`Tree::entries`], not more than [`limits::FILE_MAX`](crate::limits).
    fn read(&self, at: usize) -> Result<Vec<u8>, TreeFailure>;
}

/// A file, or what is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path from the top of the source, with `/`, as the source has it.
    pub path: Box<[u8]>,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File {
        /// Whether it may be executed.
        executable: bool,
        /// How large it says it is.
        bytes: u64,
    },
    /// A symbolic or hard link.
    Link,
    /// Another repository.
    Submodule,
    /// A FIFO, a socket, a device.
    Special,
}

/// Why a file of a source could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct TreeFailure {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: Arc<str>,
}

/// The code for what the file system says.
pub fn code(error: Errno) -> ErrorCode {
    match error {
        Errno::NOENT | Errno::NOTDIR => ErrorCode::NotFound,
        // A link, or a way out.
        Errno::LOOP | Errno::XDEV => ErrorCode::AccessDenied,
        Errno::ACCESS | Errno::PERM => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    }
}
