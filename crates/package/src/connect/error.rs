//! Why a client was not connected: a code for programs, a sentence for people, and what to do next.

use std::io;
use std::path::PathBuf;

use prowess::ErrorCode;
use prowess_format::hidden;

use super::clients::CLIENTS;
use super::server::Name;
use crate::refusal;
use prowess_config::edit::entry::EntryError;
use prowess_config::edit::file::FileError;

/// Why it failed. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is no client of this name.
    #[error("there is no client named {}", hidden::shown(name))]
    NoClient {
        /// What was asked for.
        name: String,
        /// The nearest name.
        near: Option<&'static str>,
    },
    /// The client has no configuration of that kind.
    #[error("{client} has no configuration in projects")]
    NoScope {
        /// What it calls itself.
        client: &'static str,
        /// What it is called on the command line.
        id: &'static str,
    },
    /// There is no home to keep a configuration in.
    #[error("there is no home to find configurations in")]
    NoHome,
    /// The client starts programs and nothing else.
    #[error("{client} cannot be told of a running server in its configuration")]
    NoHttp {
        /// What it calls itself.
        client: &'static str,
    },
    /// The client would need the token itself.
    #[error("{client} cannot take a token from a variable")]
    NoToken {
        /// What it calls itself.
        client: &'static str,
    },
    /// Not a name that all clients take.
    #[error("“{}” cannot be the name of a server", hidden::shown(.0))]
    BadName(String),
    /// Not the name of a variable.
    #[error("that is not the name of a variable")]
    BadToken,
    /// Not where a server can be.
    #[error("the URL cannot be used: {why}")]
    BadUrl {
        /// Why not.
        why: &'static str,
    },
    /// The client's file cannot be read, or not changed safely.
    #[error("{}: {source}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// Why.
        source: EntryError,
    },
    /// The file is not what a configuration is, or the system refused.
    #[error("{}", file_words(.0))]
    File(#[from] FileError),
}

fn file_words(error: &FileError) -> String {
    match error {
        FileError::Io { path, what, source } => {
            format!("{} cannot be {what}: {}", path.display(), refusal::words(source))
        }
        other => other.to_string(),
    }
}

impl ConnectError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(FileError::Io { source, .. }) => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    ErrorCode::PermissionDenied
                }
                _ => ErrorCode::ExecutionError,
            },
            Self::File(FileError::Changing { .. }) => ErrorCode::Conflict,
            _ => ErrorCode::InvalidParam,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoClient { near: Some(near), .. } => format!("did you mean {near}?"),
            Self::NoClient { near: None, .. } => {
                format!("there are {}", CLIENTS.iter().map(|client| client.id).collect::<Vec<_>>().join(", "))
            }
            Self::NoScope { id, .. } => format!("connect it for yourself: prowess mcp install --client {id} --user"),
            Self::NoHome => "name one with --home or PROWESS_HOME".to_owned(),
            Self::NoHttp { .. } => "let it start Prowess itself: leave out --http".to_owned(),
            Self::NoToken { .. } => {
                "leave out --token-env, and let it start Prowess itself, or put a header into its file by hand".to_owned()
            }
            Self::BadName(_) => format!(
                "a name begins with a letter, goes on with letters, digits, - and _, and has at most {} of them",
                Name::MAX
            ),
            Self::BadToken => "name the variable that holds the token, such as PROWESS_TOKEN".to_owned(),
            Self::BadUrl { .. } => "it looks like http://127.0.0.1:7878/mcp".to_owned(),
            Self::Entry { source: EntryError::Malformed { .. }, .. } => {
                "mend that file first; nothing was changed".to_owned()
            }
            Self::Entry { .. } => "prowess mcp install --print shows what to put there by hand".to_owned(),
            Self::File(FileError::Changing { .. }) => {
                "whoever uses that file is at work; close it, or try again".to_owned()
            }
            Self::File(FileError::Io { source, .. }) => return refusal::hint(source),
            Self::File(_) => return None,
        })
    }
}
