//! Why a text is no source.

use std::path::PathBuf;

use prowess::ErrorCode;
use prowess_format::NameError;

use crate::PathError;

/// Why a text is not taken for a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Nothing was written.
    #[error("the source is empty")]
    Empty,
    /// It would be an option of git.
    #[error("a source does not begin with “-”")]
    Option,
    /// Characters that cannot be seen.
    #[error("the source has a control or hidden character")]
    Hidden,
    /// Spaces, and no file of that name.
    #[error("the source has a space in it, and there is no such file or folder")]
    Space,
    /// Anybody on the way could change what comes.
    #[error("{0}:// is not protected on its way")]
    Plain(String),
    /// git would run a program.
    #[error("“::” in an address makes git run a program")]
    Helper,
    /// A scheme that nobody here knows.
    #[error("{0}:// is not known")]
    Scheme(String),
    /// A password or token in the address.
    #[error("the address has a password or a token in it")]
    Secret,
    /// Nothing is there.
    #[error("there is no file or folder {}", .0.display())]
    Missing(PathBuf),
    /// Not an address.
    #[error("the address cannot be understood: {0}")]
    Address(&'static str),
    /// Not a branch, tag or commit.
    #[error("“{0}” cannot be a branch, tag or commit")]
    Reference(String),
    /// A reference in the address and another one after it.
    #[error("the address names a reference twice")]
    TwoReferences,
    /// A path that leads out of the repository.
    #[error("the path in the repository is refused: {0}")]
    Inner(PathError),
    /// Not a skill's name.
    #[error("no skill has such a name: {0}")]
    Skill(NameError),
    /// A page of a known host that is not about files.
    #[error("that page is neither a repository nor a folder in one")]
    Page,
    /// A file that is not a skill.
    #[error("that file is not a SKILL.md")]
    NotASkill,
    /// None of the forms.
    #[error("“{0}” is no source, and there is no such file or folder")]
    Unknown(String),
}

impl SourceError {
    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Missing(_) => ErrorCode::NotFound,
            Self::Helper | Self::Plain(_) | Self::Inner(_) | Self::Option => ErrorCode::AccessDenied,
            _ => ErrorCode::InvalidParam,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Plain(_) => "use https:// or ssh://",
            Self::Secret => "leave it out; for what is private, use the ssh form, git@host:owner/repo",
            Self::Reference(_) | Self::TwoReferences => {
                "give the branch, tag or commit once, as #REF or with --ref"
            }
            Self::Page | Self::NotASkill => {
                "give the address of the repository, of a folder in it (…/tree/REF/path), or of a SKILL.md"
            }
            Self::Missing(_) => "check the path; prowess install --help lists what a source can be",
            _ => {
                "a source is owner/repo, a git address (https://, ssh://, user@host:path), a folder or an archive; \
                 prowess install --help lists them all"
            }
        };
        Some(hint.to_owned())
    }
}
