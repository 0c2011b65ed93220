//! What can go wrong with a repository, and what to do about it.

use std::io;

use prowess::ErrorCode;

use crate::fetch::http::HttpError;
use prowess_archive::limits::{DOWNLOAD_MAX, ENTRIES_MAX};

/// Why a repository could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The server could not be asked.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// There is no such repository, or none that we may see: servers do not say which.
    #[error("{url} is not there, or not for everybody")]
    NotFound {
        /// Where it was looked for.
        url: String,
    },
    /// ssh could not connect, or was not let in.
    #[error("{host} cannot be reached by ssh: {why}")]
    Ssh {
        /// Whom we asked.
        host: String,
        /// What ssh says.
        why: String,
    },
    /// There is no program `ssh`.
    #[error("ssh could not be started: {why}")]
    NoSsh {
        /// What the system says.
        why: String,
    },
    /// Nothing comes any more.
    #[error("{host} did not answer in time")]
    Timeout {
        /// Whom we asked.
        host: String,
    },
    /// Something else than git answers.
    #[error("{url} is not a git repository: {why}")]
    NotGit {
        /// Where it was looked for.
        url: String,
        /// What is there instead.
        why: String,
    },
    /// The server redirects to another host, which the user did not name.
    #[error("{url} redirects to another host, {to}")]
    Redirected {
        /// What was asked for.
        url: String,
        /// Where it leads.
        to: String,
    },
    /// A repository without a commit.
    #[error("{url} is empty")]
    Empty {
        /// Where it is.
        url: String,
    },
    /// There is no such branch, tag or commit.
    #[error("{url} has no branch, tag or commit {name}")]
    UnknownRef {
        /// Where it was looked for.
        url: String,
        /// What was asked for.
        name: String,
        /// Names much like it.
        near: Vec<String>,
        /// Whether it may be a commit with digits left out.
        short: bool,
    },
    /// A tag of something that is no commit.
    #[error("{name} is not a commit")]
    NotACommit {
        /// What was asked for.
        name: String,
    },
    /// There is no such folder in the repository.
    #[error("there is no folder {path} in the repository")]
    NoFolder {
        /// The path that was asked for.
        path: String,
    },
    /// The server sends more than is taken.
    #[error("the repository is larger than {} MiB", DOWNLOAD_MAX / 1024 / 1024)]
    TooLarge,
    /// A single thing in it is larger than is taken, or all together unpack to more.
    #[error("what the repository holds is too large to unpack")]
    Unpacked,
    /// More files than are looked at.
    #[error("the repository has more than {ENTRIES_MAX} files and folders")]
    TooMany,
    /// The server refuses, in its own words.
    #[error("the server says: {message}")]
    Refused {
        /// What it says.
        message: String,
    },
    /// What came is not what a repository consists of.
    #[error("the repository is damaged: {why}")]
    Damaged {
        /// What is wrong with it.
        why: String,
    },
    /// A kind of repository that is not read.
    #[error("{what}")]
    Unsupported {
        /// What it has.
        what: String,
    },
    /// The file system does not let us.
    #[error("{what}: {why}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        why: String,
    },
    /// Nobody wants the result any more.
    #[error("cancelled")]
    Cancelled,
}

impl GitError {
    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Http(error) => error.code(),
            Self::NotFound { .. } | Self::UnknownRef { .. } | Self::NoFolder { .. } | Self::Empty { .. } => {
                ErrorCode::NotFound
            }
            Self::Redirected { .. } => ErrorCode::AccessDenied,
            Self::Ssh { .. } | Self::NoSsh { .. } => ErrorCode::ExecutionError,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::TooLarge | Self::Unpacked | Self::TooMany => ErrorCode::TooLarge,
            Self::NotGit { .. } | Self::NotACommit { .. } | Self::Unsupported { .. } => {
                ErrorCode::InvalidParam
            }
            Self::Refused { .. } | Self::Damaged { .. } | Self::Io { .. } | Self::Cancelled => {
                ErrorCode::ExecutionError
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Http(error) => return error.hint(),
            Self::NotFound { url } if url.starts_with("https://") => {
                "check the name; if the repository is private, use the ssh form, git@host:owner/repo"
                    .to_owned()
            }
            Self::NotFound { url } if url.starts_with("file://") => "check the path".to_owned(),
            Self::NotFound { .. } => "check the name, and whether your key may read it".to_owned(),
            Self::Ssh { host, why } if why.contains("Host key") => {
                format!("connect once with `ssh {host}` and look at the key that it shows")
            }
            Self::Ssh { .. } => {
                "nothing is asked for here: the key must be known to ssh-agent, or need no passphrase"
                    .to_owned()
            }
            Self::NoSsh { .. } => "install OpenSSH, or name another program in GIT_SSH_COMMAND".to_owned(),
            Self::UnknownRef { short: true, .. } => "name the commit by all of its 40 digits".to_owned(),
            Self::UnknownRef { near, .. } if !near.is_empty() => format!("there is {}", near.join(", ")),
            Self::Redirected { to, .. } => {
                format!("if you trust that host: prowess install {}", prowess::shell::quote(to))
            }
            Self::TooMany => "name a path inside the repository".to_owned(),
            Self::TooLarge => "use an archive of the part that you need".to_owned(),
            Self::Timeout { .. } => "try again later".to_owned(),
            _ => return None,
        };
        Some(hint)
    }

    /// The failure inside an error of a reader, or the end of what came.
    pub(super) fn from_io(error: &io::Error) -> Self {
        if let Some(http) = HttpError::from_io(error) {
            return Self::from_http(http.clone());
        }
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            Some(error) => error.clone(),
            None if error.kind() == io::ErrorKind::UnexpectedEof => {
                Self::Damaged { why: "it ended half-way".to_owned() }
            }
            None => Self::Damaged { why: error.kind().to_string() },
        }
    }

    pub(super) fn from_http(error: HttpError) -> Self {
        match error {
            HttpError::Cancelled => Self::Cancelled,
            HttpError::TooLarge { .. } => Self::TooLarge,
            error => Self::Http(error),
        }
    }

    pub(super) fn damaged(why: &str) -> Self {
        Self::Damaged { why: why.to_owned() }
    }

    pub(super) fn io(what: impl Into<String>, error: &io::Error) -> Self {
        Self::Io { what: what.into(), why: error.kind().to_string() }
    }
}

impl From<crate::Cancelled> for GitError {
    fn from(_: crate::Cancelled) -> Self {
        Self::Cancelled
    }
}
