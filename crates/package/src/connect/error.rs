//! Errors of connecting a client.

use std::io;
use std::path::PathBuf;

use prowess::ErrorCode;
use prowess_format::hidden;

use super::clients::CLIENTS;
use super::server::ServerName;
use crate::io_error;
use prowess_config::edit::entry::EditEntryError;
use prowess_config::edit::file::EditFileError;

/// The reason why a client was not connected. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The client is unknown.
    #[error("unknown client {}", hidden::escape_for_display(name))]
    UnknownClient {
        /// The requested name.
        name: String,
        /// The most similar known name.
        suggestion: Option<&'static str>,
    },
    /// The client has no project configuration.
    #[error("{client} has no project configuration")]
    NoProjectConfig {
        /// The product name.
        client: &'static str,
        /// The name on the command line.
        id: &'static str,
    },
    /// There is no home directory.
    #[error("cannot find the home directory")]
    NoHome,
    /// The client can only start programs.
    #[error("{client} cannot connect to a running server through its configuration")]
    HttpUnsupported {
        /// The product name.
        client: &'static str,
    },
    /// The client cannot read the token from a variable.
    #[error("{client} cannot read a token from an environment variable")]
    TokenUnsupported {
        /// The product name.
        client: &'static str,
    },
    /// The server name is not valid in all clients.
    #[error("invalid server name “{}”", hidden::escape_for_display(.0))]
    InvalidServerName(String),
    /// The text is not the name of an environment variable.
    #[error("invalid name of an environment variable")]
    InvalidTokenVariable,
    /// The URL cannot be used.
    #[error("invalid server URL: {reason}")]
    InvalidUrl {
        /// The reason.
        reason: &'static str,
    },
    /// The client's file cannot be parsed or edited safely.
    #[error("{}: {source}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: EditEntryError,
    },
    /// The file is not a regular file, or an I/O error occurred.
    #[error("{}", describe_file_error(.0))]
    File(#[from] EditFileError),
}

pub(super) fn describe_file_error(error: &EditFileError) -> String {
    match error {
        EditFileError::Io { path, operation, source } => {
            format!("cannot {operation} {}: {}", path.display(), io_error::describe_io_error(source))
        }
        error => error.to_string(),
    }
}

/// Returns the code of an error of a client's file.
pub(super) fn file_error_code(error: &EditFileError) -> ErrorCode {
    match error {
        EditFileError::Io { source, .. } => match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                ErrorCode::PermissionDenied
            }
            _ => ErrorCode::ExecutionError,
        },
        EditFileError::ConcurrentChange { .. } => ErrorCode::Conflict,
        _ => ErrorCode::InvalidParam,
    }
}

/// Returns a hint about an error of a client's file.
pub(super) fn file_error_hint(error: &EditFileError) -> Option<String> {
    match error {
        EditFileError::ConcurrentChange { .. } => {
            Some("another program is writing the file; close that program or try again".to_owned())
        }
        EditFileError::Io { source, .. } => io_error::io_error_hint(source),
        _ => None,
    }
}

impl ConnectError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => file_error_code(error),
            _ => ErrorCode::InvalidParam,
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownClient { suggestion: Some(suggestion), .. } => format!("did you mean {suggestion}?"),
            Self::UnknownClient { suggestion: None, .. } => {
                format!(
                    "available clients: {}",
                    CLIENTS.iter().map(|client| client.id).collect::<Vec<_>>().join(", ")
                )
            }
            Self::NoProjectConfig { id, .. } => format!("run `prowess mcp install --client {id} --user`"),
            Self::NoHome => "pass --home DIR or set PROWESS_HOME".to_owned(),
            Self::HttpUnsupported { .. } => "omit --http, so that the client starts Prowess".to_owned(),
            Self::TokenUnsupported { .. } => {
                "omit --token-env and let the client start Prowess, or add a header to its file by hand"
                    .to_owned()
            }
            Self::InvalidServerName(_) => format!(
                "a name starts with a letter, contains only letters, digits, - and _, and has at most {} characters",
                ServerName::MAX
            ),
            Self::InvalidTokenVariable => {
                "pass the name of the variable that contains the token, such as PROWESS_TOKEN".to_owned()
            }
            Self::InvalidUrl { .. } => "use a URL such as http://127.0.0.1:7878/mcp".to_owned(),
            Self::Entry { source: EditEntryError::Malformed { .. }, .. } => {
                "fix the file first; nothing was changed".to_owned()
            }
            Self::Entry { .. } => "run `prowess mcp install --print` and add the output by hand".to_owned(),
            Self::File(error) => return file_error_hint(error),
        })
    }
}
