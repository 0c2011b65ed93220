//! Errors when fetching and verifying files of remote skills. Models read the messages.

use crate::error_code::ErrorCode;

/// The reason why a source did not return a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The request timed out.
    #[error("the server did not answer within {0} ms")]
    Timeout(u64),
    /// The server cannot be reached.
    #[error("cannot reach the server: {0}")]
    Unreachable(String),
    /// The server's response is not one of the protocol, such as an HTTP error.
    #[error("the server answered with {0}")]
    UnexpectedResponse(String),
    /// The server rejected the request.
    #[error("the server rejected the request: {0}")]
    Refused(String),
    /// The server's response is not a file.
    #[error("invalid response from the server: {0}")]
    Malformed(String),
}

impl FetchError {
    /// Returns the error code that tools report.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Timeout(_) => ErrorCode::Timeout,
            Self::Unreachable(_) | Self::UnexpectedResponse(_) => ErrorCode::Unavailable,
            Self::Refused(_) => ErrorCode::NotFound,
            Self::Malformed(_) => ErrorCode::ExecutionError,
        }
    }
}

/// The reason why a file of a remote skill is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteFileError {
    /// The file was not listed.
    #[error(
        "{path} is not a listed file of {name}. If the server has it now, the skill has changed and must be approved \
         again: prowess trust --mcp {name}"
    )]
    Unlisted {
        /// The skill's name.
        name: String,
        /// The requested path.
        path: String,
    },
    /// The file differs from the listing.
    #[error(
        "{path} of {name} is not used: {difference}. The skill changed on its server and must be approved again: \
         prowess trust --mcp {name}"
    )]
    Changed {
        /// The skill's name.
        name: String,
        /// The file.
        path: String,
        /// The difference.
        difference: String,
    },
    /// The frontmatter differs from the listing.
    #[error("the SKILL.md of {name} is not used: its frontmatter differs from the listed one ({field})")]
    Frontmatter {
        /// The skill's name.
        name: String,
        /// The first field that differs.
        field: String,
    },
    /// The conversation loaded another version of the skill.
    #[error(
        "skill {name} changed since it was loaded in this conversation; activate it again before reading its files"
    )]
    Outdated {
        /// The skill's name.
        name: String,
    },
    /// Files of remote skills are not executed.
    #[error(
        "cannot run files of {name}: it comes from the {origin}. To run its scripts, get the skill from its author and \
         install it: prowess install SOURCE"
    )]
    NotRunnable {
        /// The skill's name.
        name: String,
        /// The title of its source.
        origin: String,
    },
    /// The file could not be fetched.
    #[error("cannot read {path} of {name} from the {origin}: {error}")]
    Fetch {
        /// The skill's name.
        name: String,
        /// The file.
        path: String,
        /// The title of its source.
        origin: String,
        /// The cause.
        error: FetchError,
    },
}

impl RemoteFileError {
    /// Returns the error code that tools report.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unlisted { .. } | Self::Changed { .. } | Self::Frontmatter { .. } => ErrorCode::Untrusted,
            Self::Outdated { .. } => ErrorCode::Conflict,
            Self::NotRunnable { .. } => ErrorCode::AccessDenied,
            Self::Fetch { error, .. } => error.code(),
        }
    }
}
