//! Errors of parsing a source.

use std::path::PathBuf;

use prowess::ErrorCode;
use prowess_format::NameError;

use crate::InnerPathError;

/// The reason why a text is not a valid source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseSourceError {
    /// The text is empty.
    #[error("the source is empty")]
    Empty,
    /// The text looks like an option of git.
    #[error("a source cannot start with “-”")]
    LooksLikeOption,
    /// The text contains invisible characters.
    #[error("the source contains a control or hidden character")]
    HiddenCharacter,
    /// The text contains spaces, and is not an existing file.
    #[error("the source contains a space and is not an existing file or directory")]
    Space,
    /// The protocol does not protect against tampering.
    #[error("{0}:// is not secure")]
    Insecure(String),
    /// git would run a program.
    #[error("“::” in a URL makes git run a program")]
    RemoteHelper,
    /// The scheme is unknown.
    #[error("unsupported scheme {0}://")]
    UnsupportedScheme(String),
    /// The URL contains a password or token.
    #[error("the URL contains a password or a token")]
    ContainsSecret,
    /// The file or directory does not exist.
    #[error("no such file or directory: {}", .0.display())]
    Missing(PathBuf),
    /// The URL is invalid.
    #[error("invalid URL: {0}")]
    InvalidUrl(&'static str),
    /// The reference is invalid.
    #[error("“{0}” is not a valid branch, tag or commit")]
    InvalidReference(String),
    /// There are two references.
    #[error("the source has two references")]
    DuplicateReference,
    /// The path is not valid in a repository.
    #[error("invalid path in the repository: {0}")]
    InvalidPath(InnerPathError),
    /// The name of the skill is invalid.
    #[error("invalid skill name: {0}")]
    InvalidSkillName(NameError),
    /// A page of a known host that is not a repository or directory.
    #[error("the page is neither a repository nor a directory in one")]
    UnsupportedPage,
    /// The file is not a skill.
    #[error("the file is not a SKILL.md")]
    NotASkill,
    /// The text matches no form of a source.
    #[error("“{0}” is not a valid source, and not an existing file or directory")]
    Unknown(String),
}

impl ParseSourceError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Missing(_) => ErrorCode::NotFound,
            Self::RemoteHelper | Self::Insecure(_) | Self::InvalidPath(_) | Self::LooksLikeOption => {
                ErrorCode::AccessDenied
            }
            _ => ErrorCode::InvalidParam,
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Insecure(_) => "use https:// or ssh://",
            Self::ContainsSecret => {
                "remove it; for a private repository, use the ssh form git@host:owner/repo"
            }
            Self::InvalidReference(_) | Self::DuplicateReference => {
                "specify the branch, tag or commit once, as #REF or with --ref"
            }
            Self::UnsupportedPage | Self::NotASkill => {
                "use the URL of the repository, of a directory in it (…/tree/REF/path), or of a SKILL.md"
            }
            Self::Missing(_) => "check the path; run `prowess install --help` to see the supported sources",
            _ => {
                "a source is owner/repo, a git URL (https://, ssh://, user@host:path), a directory or an archive; run \
                 `prowess install --help` to see all of them"
            }
        };
        Some(hint.to_owned())
    }
}
