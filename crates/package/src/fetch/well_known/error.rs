//! Errors of skill indexes.

use prowess::ErrorCode;
use prowess_format::hidden;
use url::Url;

use super::{FetchUrlError, INDEX_MAX, SCHEMA, SKILLS_MAX};
use crate::InnerPathError;
use prowess_archive::ArchiveError;
use prowess_archive::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};

/// The reason why an index, or a skill in it, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WellKnownError {
    /// The request failed.
    #[error(transparent)]
    Fetch(#[from] FetchUrlError),
    /// The site has no index.
    #[error("{site} has no index of skills")]
    NoIndex {
        /// The site.
        site: Url,
    },
    /// The URL is not https.
    #[error("{0} is not an https URL")]
    NotHttps(Url),
    /// The index is too large.
    #[error("the index is larger than {} MiB", INDEX_MAX >> 20)]
    IndexTooLarge,
    /// The index has too many skills.
    #[error("the index has more than {SKILLS_MAX} skills")]
    TooManySkills,
    /// The index cannot be parsed.
    #[error("invalid index: {0}")]
    Malformed(String),
    /// The version is unknown.
    #[error("the index has the unknown $schema “{0}”")]
    UnknownSchema(String),
    /// The digest does not match.
    #[error("“{name}” has the digest {actual}, but the index has {expected}")]
    DigestMismatch {
        /// The skill.
        name: String,
        /// The digest in the index.
        expected: String,
        /// The digest of the received bytes.
        actual: String,
    },
    /// The archive is invalid.
    #[error("invalid archive of “{name}”: {error}")]
    Archive {
        /// The skill.
        name: String,
        /// The cause.
        error: ArchiveError,
    },
    /// The archive has no skill at its root.
    #[error("the archive of “{0}” has no SKILL.md at its root")]
    NoSkill(String),
    /// The skill exceeds the limits.
    #[error("“{0}” is larger than {all} MiB, or one of its files than {one} MiB", all = TOTAL_MAX >> 20, one = FILE_MAX >> 20)]
    SkillTooLarge(String),
}

impl WellKnownError {
    pub(super) fn unknown_schema(text: &str) -> Self {
        Self::UnknownSchema(hidden::escape_for_display(text).chars().take(200).collect())
    }

    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Fetch(failure) => failure.code,
            Self::NoIndex { .. } => ErrorCode::NotFound,
            Self::IndexTooLarge | Self::TooManySkills | Self::SkillTooLarge(_) => ErrorCode::TooLarge,
            Self::Archive { error, .. } => error.code(),
            Self::DigestMismatch { .. } | Self::NotHttps(_) => ErrorCode::AccessDenied,
            Self::Malformed(_) | Self::UnknownSchema(_) | Self::NoSkill(_) => ErrorCode::InvalidParam,
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Fetch(failure) => failure.hint.clone(),
            Self::Archive { error, .. } => error.hint(),
            Self::NoIndex { .. } => Some(
                "a site publishes skills at /.well-known/agent-skills/index.json; for a repository, use \
                 git+https://…"
                    .to_owned(),
            ),
            Self::UnknownSchema(_) => Some(format!("supported is {SCHEMA}")),
            Self::DigestMismatch { .. } => {
                Some("the file was changed without the index; contact the operator of the site".to_owned())
            }
            _ => None,
        }
    }
}

/// The reason why an entry of an index is skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexEntryError {
    /// A field is missing or has the wrong type.
    #[error("invalid entry: {0}")]
    Malformed(String),
    /// The name is invalid.
    #[error("the name must have at most 64 characters of a-z, 0-9 and single hyphens")]
    Name,
    /// The name is used by a previous entry.
    #[error("duplicate name")]
    Duplicate,
    /// The description is empty or too long.
    #[error("the description must have 1 to 1,024 characters")]
    Description,
    /// The type is unknown.
    #[error("unknown type “{0}”")]
    Type(String),
    /// The URL is not allowed.
    #[error("invalid URL: {0}")]
    Url(&'static str),
    /// The digest is malformed.
    #[error("the digest must be sha256: and 64 lower-case hexadecimal digits")]
    Digest,
    /// The path of a file is not allowed.
    #[error("invalid file “{path}”: {reason}")]
    File {
        /// The path.
        path: String,
        /// The reason.
        reason: InnerPathError,
    },
    /// The path of a file contains a character that is not allowed.
    #[error("the file “{0}” contains a character that the format does not allow")]
    Character(String),
    /// The list of files is empty, too long, has duplicates, or has no `SKILL.md`.
    #[error("the entry must list 1 to {FILES_MAX} different files, including SKILL.md")]
    Files,
}
