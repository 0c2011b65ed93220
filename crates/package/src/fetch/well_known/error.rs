//! Why an index, or a skill of it, cannot be used.

use prowess::ErrorCode;
use prowess_format::hidden;
use url::Url;

use super::{FetchFailure, INDEX_MAX, SCHEMA, SKILLS_MAX};
use crate::PathError;
use prowess_archive::ArchiveError;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};

/// Why an index, or a skill of it, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WellKnownError {
    /// Nothing came.
    #[error(transparent)]
    Fetch(#[from] FetchFailure),
    /// The site has no index.
    #[error("{site} has no index of skills")]
    NoIndex {
        /// The site.
        site: Url,
    },
    /// Not `https`.
    #[error("{0} is not an https address")]
    Plain(Url),
    /// More than is read.
    #[error("the index is larger than {} MiB", INDEX_MAX >> 20)]
    TooLarge,
    /// More skills than are read.
    #[error("the index has more than {SKILLS_MAX} skills")]
    TooMany,
    /// Not an index.
    #[error("the index cannot be understood: {0}")]
    Malformed(String),
    /// A version that is not known.
    #[error("the index has the unknown $schema “{0}”")]
    Schema(String),
    /// Not what the index promised.
    #[error("the bytes of “{name}” have the digest {found}, but the index says {expected}")]
    Digest {
        /// The skill.
        name: String,
        /// What the index says.
        expected: String,
        /// What came.
        found: String,
    },
    /// An archive that is refused.
    #[error("the archive of “{name}” is refused: {error}")]
    Archive {
        /// The skill.
        name: String,
        /// Why.
        error: ArchiveError,
    },
    /// An archive that does not hold a skill where it must.
    #[error("the archive of “{0}” has no SKILL.md at its top")]
    NoSkill(String),
    /// More than a skill may have.
    #[error("“{0}” is larger than {all} MiB, or one of its files than {one} MiB", all = TOTAL_MAX >> 20, one = FILE_MAX >> 20)]
    SkillTooLarge(String),
}

impl WellKnownError {
    pub(super) fn schema(text: &str) -> Self {
        Self::Schema(hidden::shown(text).chars().take(200).collect())
    }

    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Fetch(failure) => failure.code,
            Self::NoIndex { .. } => ErrorCode::NotFound,
            Self::TooLarge | Self::TooMany | Self::SkillTooLarge(_) => ErrorCode::TooLarge,
            Self::Archive { error, .. } => error.code(),
            Self::Digest { .. } | Self::Plain(_) => ErrorCode::AccessDenied,
            Self::Malformed(_) | Self::Schema(_) | Self::NoSkill(_) => ErrorCode::InvalidParam,
        }
    }

    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Fetch(failure) => failure.hint.clone(),
            Self::Archive { error, .. } => error.hint(),
            Self::NoIndex { .. } => Some(
                "a site publishes skills at /.well-known/agent-skills/index.json; if it is a repository, write \
                 git+https://…"
                    .to_owned(),
            ),
            Self::Schema(_) => Some(format!("known is {SCHEMA}")),
            Self::Digest { .. } => {
                Some("the site changed it without its index, or somebody else did; ask the site".to_owned())
            }
            _ => None,
        }
    }
}

/// Why one entry of an index is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// A field is missing or of another type.
    #[error("it is not an entry: {0}")]
    Malformed(String),
    /// Not a skill's name.
    #[error("its name is not made of a-z, 0-9 and single hyphens, at most 64 of them")]
    Name,
    /// A name that is there already.
    #[error("the name is there already")]
    Twice,
    /// No description, or too long a one.
    #[error("its description does not have 1 to 1,024 characters")]
    Description,
    /// A type that is not known.
    #[error("its type “{0}” is not known")]
    Type(String),
    /// An address that is not fetched.
    #[error("its address is refused: {0}")]
    Address(&'static str),
    /// Not a digest.
    #[error("its digest is not sha256: and 64 small hexadecimal digits")]
    Digest,
    /// A file's path that leads elsewhere.
    #[error("its file “{path}” is refused: {why}")]
    File {
        /// The path.
        path: String,
        /// Why.
        why: PathError,
    },
    /// A file's path that cannot stand in an address.
    #[error("its file “{0}” has a character that the format does not allow")]
    Character(String),
    /// No files, too many, one twice, or none that is a skill.
    #[error("it does not list between 1 and {FILES_MAX} different files with a SKILL.md among them")]
    Files,
}
