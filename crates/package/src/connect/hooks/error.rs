//! Errors of registering a hook.

use std::path::PathBuf;

use prowess::ErrorCode;
use prowess_config::edit::entry::EditEntryError;
use prowess_config::edit::file::EditFileError;
use prowess_format::hidden;

use super::super::clients::CLIENTS;
use super::super::error::{describe_file_error, file_error_code, file_error_hint};
use super::clients::HOOK_CLIENTS;

/// The reason why a hook was not registered or removed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The client is unknown.
    #[error("unknown client {}", hidden::escape_for_display(name))]
    UnknownClient {
        /// The requested name.
        name: String,
        /// The most similar known name.
        suggestion: Option<&'static str>,
    },
    /// The client has no hook that can add text for its model.
    #[error("{title} cannot show hints to its model: {reason}")]
    NoPromptHook {
        /// The name on the command line.
        id: &'static str,
        /// The product name.
        title: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// There is no home directory.
    #[error("cannot find the home directory")]
    NoHome,
    /// A file that Prowess generates was changed, or another program has a file of the same name.
    #[error("{} is not the file that Prowess generates", .0.display())]
    ChangedFile(PathBuf),
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

impl HookError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => file_error_code(error),
            Self::ChangedFile(_) => ErrorCode::Conflict,
            Self::NoPromptHook { .. } => ErrorCode::Unavailable,
            _ => ErrorCode::InvalidParam,
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownClient { suggestion: Some(suggestion), .. } => format!("did you mean {suggestion}?"),
            Self::UnknownClient { suggestion: None, .. } => {
                let ids: Vec<_> = HOOK_CLIENTS.iter().map(|client| client.id).collect();
                format!("available clients: {}", ids.join(", "))
            }
            Self::NoPromptHook { id, .. } if CLIENTS.iter().any(|client| client.id == *id) => {
                format!("run `prowess mcp install --client {id}` to offer it the skills through MCP")
            }
            Self::NoPromptHook { .. } => {
                "offer it the skills through MCP: run `prowess mcp install --client cursor --print` and add the output \
                 to its configuration"
                    .to_owned()
            }
            Self::NoHome => "pass --home DIR or set PROWESS_HOME".to_owned(),
            Self::ChangedFile(_) => "nothing was changed; move the file away or delete it by hand".to_owned(),
            Self::Entry { source: EditEntryError::Malformed { .. }, .. } => {
                "fix the file first; nothing was changed".to_owned()
            }
            Self::Entry { .. } => "nothing was changed; edit the file by hand".to_owned(),
            Self::File(error) => return file_error_hint(error),
        })
    }
}
