//! Why a file was not handed out. No message names a path of the machine: a model reads them.

use crate::error_code::ErrorCode;
use crate::skill::{Closed, shown};
use crate::supply::Unverified;
use prowess_fs::{Errno, FileType, ReadError};

/// Why a file was not handed out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The skill is not disclosed at all.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// It comes from a server and is not what was listed, or did not come.
    #[error(transparent)]
    Unverified(#[from] Unverified),
    /// The path is empty, endless, or has a NUL.
    #[error("the path {0}")]
    Path(&'static str),
    /// The path is absolute.
    #[error("the path is absolute; only relative paths are read")]
    Absolute,
    /// The path has a `..` segment.
    #[error("the path has a `..` segment; only paths that stay inside are read")]
    Escape,
    /// The path goes through a link.
    #[error("{path} is a link, or lies behind one; links are not followed")]
    Link {
        /// The path that was asked for.
        path: String,
    },
    /// The link leads out of the folder.
    #[error("{path} is a link that leads outside")]
    LinkOut {
        /// The path that was asked for.
        path: String,
    },
    /// Files of this ending are not read.
    #[error("files ending in {found:?} are not read; allowed are {}", allowed.join(", "))]
    Extension {
        /// The ending; empty where there is none.
        found: String,
        /// The endings that are.
        allowed: Vec<String>,
    },
    /// A FIFO, a socket, a device.
    #[error("{path} is {what} and not a file")]
    Special {
        /// The path that was asked for.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// A folder.
    #[error("{path} is a directory; give the path of a file in it")]
    Directory {
        /// The path that was asked for.
        path: String,
    },
    /// There is no such file.
    #[error("there is no file {path}{}", did_you_mean(.nearest.as_deref()))]
    NotFound {
        /// The path that was asked for.
        path: String,
        /// The file that may have been meant.
        nearest: Option<String>,
    },
    /// The folder itself is no longer what it was when it was found.
    #[error("the folder of {name} is no longer there")]
    Gone {
        /// The skill.
        name: String,
    },
    /// Not text.
    #[error("binary not supported: {path} is not text")]
    Binary {
        /// The path that was asked for.
        path: String,
    },
    /// Beyond the hard cap.
    #[error("{path} has {bytes} bytes; files of more than {limit} are not read")]
    TooLarge {
        /// The path that was asked for.
        path: String,
        /// Its size.
        bytes: u64,
        /// The cap.
        limit: u64,
    },
    /// A skill of which there is more than is ever taken as a whole.
    #[error(
        "at {path} the skill goes beyond {files} files, {bytes} bytes in all or 16 folders in each other"
    )]
    Whole {
        /// Where it was noticed.
        path: String,
        /// The most files.
        files: usize,
        /// The most bytes.
        bytes: u64,
    },
    /// The operating system refuses.
    #[error("{path} cannot be read: permission denied")]
    Permission {
        /// The path that was asked for.
        path: String,
    },
    /// Anything else.
    #[error("{path} cannot be read: {why}")]
    Io {
        /// The path that was asked for.
        path: String,
        /// Why.
        why: String,
    },
}

impl AccessError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Closed(closed) => closed.code(),
            Self::Unverified(error) => error.code(),
            Self::Path(_) => ErrorCode::InvalidParam,
            Self::Absolute
            | Self::Escape
            | Self::Link { .. }
            | Self::LinkOut { .. }
            | Self::Extension { .. }
            | Self::Special { .. } => ErrorCode::AccessDenied,
            Self::Directory { .. } => ErrorCode::IsDirectory,
            Self::NotFound { .. } | Self::Gone { .. } => ErrorCode::NotFound,
            Self::Binary { .. } => ErrorCode::BinaryFile,
            Self::TooLarge { .. } | Self::Whole { .. } => ErrorCode::TooLarge,
            Self::Permission { .. } => ErrorCode::PermissionDenied,
            Self::Io { .. } => ErrorCode::ExecutionError,
        }
    }

    /// What the operating system's word for it means.
    pub(super) fn os(path: &str, error: Errno) -> Self {
        let path = shown(path);
        match error {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Self::NotFound { path, nearest: None },
            Errno::LOOP => Self::Link { path },
            Errno::XDEV => Self::Escape,
            // A socket cannot even be opened; a device may have nobody behind it.
            Errno::NXIO | Errno::NODEV => Self::Special { path, what: "a socket or a device" },
            Errno::ACCESS | Errno::PERM => Self::Permission { path },
            other => Self::Io { path, why: std::io::Error::from(other).kind().to_string() },
        }
    }

    /// What it means that an open file was not read.
    pub(super) fn read(path: &str, error: ReadError, limit: u64) -> Self {
        let shown = shown(path);
        match error {
            ReadError::NotAFile(FileType::Directory) => Self::Directory { path: shown },
            ReadError::NotAFile(kind) => Self::Special { path: shown, what: noun(kind) },
            ReadError::TooLarge(bytes) => Self::TooLarge { path: shown, bytes, limit },
            ReadError::Changing => Self::Io { path: shown, why: "it changes while it is read".to_owned() },
            ReadError::Os(error) => Self::os(path, error),
        }
    }
}

/// What to call a file that is none.
pub(crate) fn noun(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a link",
        _ => "something else",
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default()
}
