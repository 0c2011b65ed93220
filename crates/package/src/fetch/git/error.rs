//! Errors of fetching a repository.

use std::io;

use prowess::ErrorCode;

use crate::fetch::http::HttpError;
use prowess_archive::limits::{DOWNLOAD_MAX, ENTRIES_MAX};

/// The reason why a repository could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The HTTP request failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The repository does not exist or is not accessible: servers do not distinguish the two.
    #[error("{url} does not exist or is private")]
    NotFound {
        /// The repository.
        url: String,
    },
    /// ssh could not connect, or was rejected.
    #[error("cannot connect to {host} with ssh: {reason}")]
    Ssh {
        /// The host.
        host: String,
        /// The message of ssh.
        reason: String,
    },
    /// The program `ssh` cannot be started.
    #[error("cannot start ssh: {reason}")]
    SshNotStarted {
        /// The cause.
        reason: String,
    },
    /// The server does not respond.
    #[error("{host} timed out")]
    Timeout {
        /// The host.
        host: String,
    },
    /// The response is not from a git server.
    #[error("{url} is not a git repository: {reason}")]
    NotGit {
        /// The URL.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The server redirects to another host.
    #[error("{url} redirects to another host, {to}")]
    Redirected {
        /// The requested URL.
        url: String,
        /// The target of the redirect.
        to: String,
    },
    /// The repository has no commit.
    #[error("{url} is empty")]
    Empty {
        /// The repository.
        url: String,
    },
    /// The branch, tag or commit does not exist.
    #[error("{url} has no branch, tag or commit {name}")]
    UnknownRef {
        /// The repository.
        url: String,
        /// The requested name.
        name: String,
        /// Similar names.
        suggestions: Vec<String>,
        /// Whether the name may be an abbreviated commit.
        is_abbreviated: bool,
    },
    /// A tag does not point to a commit.
    #[error("{name} is not a commit")]
    NotACommit {
        /// The requested name.
        name: String,
    },
    /// The directory does not exist in the repository.
    #[error("no directory {path} in the repository")]
    NoDirectory {
        /// The requested path.
        path: String,
    },
    /// The download exceeds the limit.
    #[error("the repository is larger than {} MiB", DOWNLOAD_MAX / 1024 / 1024)]
    TooLarge,
    /// An object, or all objects together, exceed the limit after unpacking.
    #[error("the unpacked repository is too large")]
    UnpackedTooLarge,
    /// The repository has too many files.
    #[error("the repository has more than {ENTRIES_MAX} files and directories")]
    TooManyEntries,
    /// The server rejected the request.
    #[error("the server reported: {message}")]
    Rejected {
        /// The message of the server.
        message: String,
    },
    /// The data of the repository is invalid.
    #[error("the repository is damaged: {reason}")]
    Damaged {
        /// The problem.
        reason: String,
    },
    /// The repository has an unsupported format.
    #[error("{message}")]
    Unsupported {
        /// The message.
        message: String,
    },
    /// An I/O error.
    #[error("cannot {operation}: {reason}")]
    Io {
        /// The operation, such as "read the repository".
        operation: String,
        /// The cause.
        reason: String,
    },
    /// The operation was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl GitError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Http(error) => error.code(),
            Self::NotFound { .. }
            | Self::UnknownRef { .. }
            | Self::NoDirectory { .. }
            | Self::Empty { .. } => ErrorCode::NotFound,
            Self::Redirected { .. } => ErrorCode::AccessDenied,
            Self::Ssh { .. } | Self::SshNotStarted { .. } => ErrorCode::ExecutionError,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::TooLarge | Self::UnpackedTooLarge | Self::TooManyEntries => ErrorCode::TooLarge,
            Self::NotGit { .. } | Self::NotACommit { .. } | Self::Unsupported { .. } => {
                ErrorCode::InvalidParam
            }
            Self::Rejected { .. } | Self::Damaged { .. } | Self::Io { .. } | Self::Cancelled => {
                ErrorCode::ExecutionError
            }
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Http(error) => return error.hint(),
            Self::NotFound { url } if url.starts_with("https://") => {
                "check the name; for a private repository, use the ssh form git@host:owner/repo".to_owned()
            }
            Self::NotFound { url } if url.starts_with("file://") => "check the path".to_owned(),
            Self::NotFound { .. } => "check the name, and that your key has read access".to_owned(),
            Self::Ssh { host, reason } if reason.contains("Host key") => {
                format!("run `ssh {host}` once and check the host key")
            }
            Self::Ssh { .. } => {
                "add the key to ssh-agent, or use a key without a passphrase; Prowess does not prompt for it"
                    .to_owned()
            }
            Self::SshNotStarted { .. } => {
                "install OpenSSH, or set GIT_SSH_COMMAND to another program".to_owned()
            }
            Self::UnknownRef { is_abbreviated: true, .. } => {
                "use the full commit id with 40 digits".to_owned()
            }
            Self::UnknownRef { suggestions, .. } if !suggestions.is_empty() => {
                format!("did you mean {}?", suggestions.join(", "))
            }
            Self::Redirected { to, .. } => {
                format!("if you trust that host: prowess install {}", prowess::shell::quote(to))
            }
            Self::TooManyEntries => "select a directory in the repository".to_owned(),
            Self::TooLarge => "use an archive of the required directory".to_owned(),
            Self::Timeout { .. } => "try again later".to_owned(),
            _ => return None,
        };
        Some(hint)
    }

    /// Extracts the error from an error of a reader; treats an unexpected end as damage.
    pub(super) fn from_io(error: &io::Error) -> Self {
        if let Some(http) = HttpError::from_io(error) {
            return Self::from_http(http.clone());
        }
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            Some(error) => error.clone(),
            None if error.kind() == io::ErrorKind::UnexpectedEof => {
                Self::Damaged { reason: "the data ends unexpectedly".to_owned() }
            }
            None => Self::Damaged { reason: error.kind().to_string() },
        }
    }

    pub(super) fn from_http(error: HttpError) -> Self {
        match error {
            HttpError::Cancelled => Self::Cancelled,
            HttpError::TooLarge { .. } => Self::TooLarge,
            error => Self::Http(error),
        }
    }

    pub(super) fn damaged(reason: &str) -> Self {
        Self::Damaged { reason: reason.to_owned() }
    }

    pub(super) fn io(operation: impl Into<String>, error: &io::Error) -> Self {
        Self::Io { operation: operation.into(), reason: error.kind().to_string() }
    }
}

impl From<crate::Cancelled> for GitError {
    fn from(_: crate::Cancelled) -> Self {
        Self::Cancelled
    }
}
