//! Errors of parsing the URL of a repository.

/// The reason why the URL of a repository is invalid. Messages do not contain the URL, because it may contain a
/// token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseGitUrlError {
    /// The text is empty.
    #[error("the URL is empty")]
    Empty,
    /// The URL is too long.
    #[error("the URL is longer than 2,048 bytes")]
    TooLong,
    /// A control character, hidden character, white space or backslash.
    #[error("the URL contains an invalid character")]
    Character,
    /// A part looks like a command-line option.
    #[error("a part of the URL starts with “-”")]
    LooksLikeOption,
    /// An unsupported scheme, such as `git`, `ftp`, or a helper such as `ext::`.
    #[error("unsupported URL scheme; repositories are fetched over https or ssh")]
    Scheme,
    /// `http://`.
    #[error("plain http is not supported for repositories")]
    Http,
    /// A `file://` URL where it is not allowed.
    #[error("file:// repositories are not allowed here")]
    Local,
    /// The URL contains a user, password or token.
    #[error("the URL contains a user, password or token")]
    Credentials,
    /// The host is missing or invalid.
    #[error("the URL has no valid host")]
    Host,
    /// The port is invalid.
    #[error("the URL has no valid port")]
    Port,
    /// The path is missing, or there is a query or a fragment.
    #[error("the URL has no valid path")]
    Path,
}

impl ParseGitUrlError {
    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Scheme | Self::Empty => {
                Some("use https://host/owner/repo, ssh://user@host/path or user@host:path")
            }
            Self::Http => Some("use https://"),
            Self::Credentials => {
                Some("remove it; for a private repository, use the ssh form git@host:owner/repo")
            }
            Self::Path => Some("use the URL of the repository, without ? and #"),
            Self::Local => Some("set PROWESS_ALLOW_FILE_URLS=1, or pass the path of the directory"),
            Self::TooLong | Self::Character | Self::LooksLikeOption | Self::Host | Self::Port => None,
        }
    }
}
