//! Why a workspace cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use prowess::ErrorCode;
use prowess_archive::InnerPathError;

/// Why a workspace cannot be used, or changes cannot be applied to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptFilesError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {error}", show(path))]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The path must not be given to a script.
    #[error("cannot use {} as a workspace: it {reason}", show(path))]
    Refused {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// The files exceed a limit.
    #[error("{} has more than {limit} {unit}, which is the limit for files of a script", show(path))]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// The limit.
        limit: u64,
        /// `bytes` or `files and directories`.
        unit: &'static str,
        /// The setting of the limit.
        key: &'static str,
    },
    /// The name of an input is not accepted.
    #[error("cannot use {path} as the name of an input: {reason}")]
    InvalidInput {
        /// The name, escaped.
        path: String,
        /// The reason.
        reason: InnerPathError,
    },
    /// Two inputs need the same path.
    #[error("two inputs have the path {path}")]
    DuplicateInput {
        /// The path.
        path: String,
    },
    /// An input has the path of something in the directory of the user.
    #[error("the workspace already has {path}, which an input must not replace")]
    InputExists {
        /// The path.
        path: String,
    },
    /// A file was changed by another program during the run.
    #[error(
        "{path} was changed by another program while the script ran, so nothing was changed in the workspace"
    )]
    Conflict {
        /// The path.
        path: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", show(path))]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// Returns a path for a message. The names of files in a workspace may come from anywhere.
fn show(path: &Path) -> String {
    prowess::format::hidden::escape_for_display(&path.to_string_lossy()).into_owned()
}

impl ScriptFilesError {
    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unreadable { error, .. } if error.kind() == io::ErrorKind::NotFound => ErrorCode::NotFound,
            Self::Unreadable { .. } | Self::Unwritable { .. } => ErrorCode::PermissionDenied,
            Self::Refused { .. } => ErrorCode::AccessDenied,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::InvalidInput { .. } | Self::DuplicateInput { .. } => ErrorCode::InvalidParam,
            Self::InputExists { .. } | Self::Conflict { .. } => ErrorCode::Conflict,
        }
    }

    /// Returns what to do about the error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { .. } => {
                Some("choose a directory that holds only files for the script".to_owned())
            }
            Self::TooLarge { key, .. } => {
                Some(format!("choose a smaller directory, or raise {key} in ~/.prowess/config.toml"))
            }
            Self::InputExists { .. } => {
                Some("give the input another name, or leave it out to use the existing file".to_owned())
            }
            Self::Conflict { .. } => Some("run the script again".to_owned()),
            Self::Unreadable { .. }
            | Self::InvalidInput { .. }
            | Self::DuplicateInput { .. }
            | Self::Unwritable { .. } => None,
        }
    }
}
