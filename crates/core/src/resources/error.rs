//! Errors when reading a skill's files. Models read the messages, so they never contain a path of this machine.

use crate::error_code::ErrorCode;
use crate::remote::RemoteFileError;
use crate::skill::{ResourceUnavailable, display_text};
use prowess_fs::{Errno, FileType, ReadError};

/// The reason why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadResourceError {
    /// The skill's status does not allow it.
    #[error(transparent)]
    Unavailable(#[from] ResourceUnavailable),
    /// The file of a remote skill could not be fetched or differs from the listing.
    #[error(transparent)]
    Remote(#[from] RemoteFileError),
    /// The path is empty, too long, or contains a NUL.
    #[error("the path {0}")]
    InvalidPath(&'static str),
    /// The path is absolute.
    #[error("the path is absolute; use a relative path")]
    Absolute,
    /// The path has a `..` segment.
    #[error("the path contains `..`; use a path inside the directory")]
    Escape,
    /// The path contains a symlink.
    #[error("{path} is or contains a symlink; symlinks are not followed")]
    Link {
        /// The requested path.
        path: String,
    },
    /// The symlink points outside the directory.
    #[error("{path} is a symlink to outside the directory")]
    LinkOutside {
        /// The requested path.
        path: String,
    },
    /// Files with this extension are not read.
    #[error("files with the extension {extension:?} are not read; allowed: {}", allowed.join(", "))]
    Extension {
        /// The extension; empty if there is none.
        extension: String,
        /// The allowed extensions.
        allowed: Vec<String>,
    },
    /// The path is a FIFO, a socket or a device.
    #[error("{path} is {file_type}, not a file")]
    Special {
        /// The requested path.
        path: String,
        /// The type of the file, with its article.
        file_type: &'static str,
    },
    /// The path is a directory.
    #[error("{path} is a directory; use the path of a file in it")]
    Directory {
        /// The requested path.
        path: String,
    },
    /// The file does not exist.
    #[error("no such file: {path}{}", did_you_mean(.nearest.as_deref()))]
    NotFound {
        /// The requested path.
        path: String,
        /// The file that was probably meant.
        nearest: Option<String>,
    },
    /// The skill is a custom command, which is a single file.
    #[error("{name} is a custom command, which has no other files")]
    Command {
        /// The command's name.
        name: String,
    },
    /// The skill's directory was deleted or replaced since discovery.
    #[error("the directory of {name} no longer exists")]
    Gone {
        /// The skill's name.
        name: String,
    },
    /// The file is not text.
    #[error("binary not supported: {path} is not text")]
    Binary {
        /// The requested path.
        path: String,
    },
    /// The file exceeds the hard limit.
    #[error("{path} has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The requested path.
        path: String,
        /// The size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The skill is too large to be read as a whole.
    #[error("the skill exceeds {files} files, {bytes} bytes or 16 nested directories at {path}")]
    SkillTooLarge {
        /// Where the limit was exceeded.
        path: String,
        /// The maximum number of files.
        files: usize,
        /// The maximum total size in bytes.
        bytes: u64,
    },
    /// Access was denied by the operating system.
    #[error("cannot read {path}: permission denied")]
    Permission {
        /// The requested path.
        path: String,
    },
    /// Any other I/O error.
    #[error("cannot read {path}: {reason}")]
    Io {
        /// The requested path.
        path: String,
        /// The cause.
        reason: String,
    },
}

impl ReadResourceError {
    /// Returns the error code that tools report.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(unavailable) => unavailable.code(),
            Self::Remote(error) => error.code(),
            Self::InvalidPath(_) => ErrorCode::InvalidParam,
            Self::Absolute
            | Self::Escape
            | Self::Link { .. }
            | Self::LinkOutside { .. }
            | Self::Extension { .. }
            | Self::Special { .. } => ErrorCode::AccessDenied,
            Self::Directory { .. } => ErrorCode::IsDirectory,
            Self::NotFound { .. } | Self::Gone { .. } | Self::Command { .. } => ErrorCode::NotFound,
            Self::Binary { .. } => ErrorCode::BinaryFile,
            Self::TooLarge { .. } | Self::SkillTooLarge { .. } => ErrorCode::TooLarge,
            Self::Permission { .. } => ErrorCode::PermissionDenied,
            Self::Io { .. } => ErrorCode::ExecutionError,
        }
    }

    /// Converts an error code of the operating system.
    pub(super) fn from_errno(path: &str, error: Errno) -> Self {
        let path = display_text(path);
        match error {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Self::NotFound { path, nearest: None },
            Errno::LOOP => Self::Link { path },
            Errno::XDEV => Self::Escape,
            // A socket cannot be opened, nor can a device without a driver.
            Errno::NXIO | Errno::NODEV => Self::Special { path, file_type: "a socket or a device" },
            Errno::ACCESS | Errno::PERM => Self::Permission { path },
            errno => Self::Io { path, reason: std::io::Error::from(errno).kind().to_string() },
        }
    }

    /// Converts an error when reading an open file.
    pub(super) fn from_read_error(path: &str, error: ReadError, limit: u64) -> Self {
        let display_path = display_text(path);
        match error {
            ReadError::NotAFile(FileType::Directory) => Self::Directory { path: display_path },
            ReadError::NotAFile(kind) => {
                Self::Special { path: display_path, file_type: describe_file_type(kind) }
            }
            ReadError::TooLarge(bytes) => Self::TooLarge { path: display_path, bytes, limit },
            ReadError::Changing => {
                Self::Io { path: display_path, reason: "the file changed while it was read".to_owned() }
            }
            ReadError::Os(error) => Self::from_errno(path, error),
        }
    }
}

/// Describes a file that is not a regular file.
pub(crate) fn describe_file_type(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a symlink",
        _ => "a special file",
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default()
}
