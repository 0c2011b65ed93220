//! Why a text is no place of a repository.

/// Why a text is not taken as the place of a repository. No text of it is shown, since it may hold a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Nothing at all.
    #[error("there is no URL")]
    Empty,
    /// Longer than any URL.
    #[error("the URL is longer than 2,048 bytes")]
    Long,
    /// Control characters, hidden ones, white space, or a backslash.
    #[error("the URL has a character that belongs in no URL")]
    Character,
    /// Something that a program would take for an option.
    #[error("a part of the URL begins with “-”")]
    Option,
    /// `http`, `git`, `ftp`, a helper such as `ext::`.
    #[error("only https and ssh are used for repositories")]
    Scheme,
    /// `http://`.
    #[error("plain http is not used for repositories")]
    Http,
    /// A place on this machine where none may be named.
    #[error("a repository on this machine cannot be named here")]
    Local,
    /// A user, password or token.
    #[error("the URL has a user, password or token in it")]
    Credentials,
    /// No host, or what cannot be one.
    #[error("the URL has no valid host")]
    Host,
    /// Not a port.
    #[error("the URL has no valid port")]
    Port,
    /// No path, a query, or a fragment.
    #[error("the URL has no valid path")]
    Path,
}

impl UrlError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Scheme | Self::Empty => {
                Some("write https://host/owner/repo, ssh://user@host/path or user@host:path")
            }
            Self::Http => Some("write https:// instead"),
            Self::Credentials => {
                Some("leave it out; for a private repository use the ssh form, git@host:owner/repo")
            }
            Self::Path => Some("name the repository itself, without ? and #"),
            Self::Local => Some("PROWESS_ALLOW_FILE_URLS=1 allows it; a folder is named by its path"),
            Self::Long | Self::Character | Self::Option | Self::Host | Self::Port => None,
        }
    }
}
