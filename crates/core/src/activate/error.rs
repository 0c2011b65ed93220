//! Why a skill was not activated. No message names a path of the machine: a model reads them.

use prowess_format::Diagnostic;

use super::arguments::ArgumentsError;
use crate::error_code::ErrorCode;
use crate::resource::noun;
use crate::resource::place::FILE_MAX;
use crate::skill::{Closed, Skill, shown, shown_name};
use crate::supply::Unverified;
use prowess_fs::{Errno, ReadError};

/// Why a skill was not activated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActivateError {
    /// Its status forbids it.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// It comes from a server and is not what was listed, or did not come.
    #[error(transparent)]
    Unverified(#[from] Unverified),
    /// The arguments are not taken.
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    /// Its `SKILL.md` was deleted since it was found.
    #[error("the SKILL.md of {name} is no longer there")]
    Gone {
        /// The skill.
        name: String,
    },
    /// Its `SKILL.md` or a folder above it was replaced by a link since it was found.
    #[error("the SKILL.md of {name} was replaced by a link, which is not followed")]
    Link {
        /// The skill.
        name: String,
    },
    /// Its `SKILL.md` was replaced by something that is not a file.
    #[error("the SKILL.md of {name} is {what} and not a file")]
    NotAFile {
        /// The skill.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// Its `SKILL.md` is beyond the hard cap.
    #[error("the SKILL.md of {name} has {bytes} bytes; files of more than {FILE_MAX} are not read")]
    TooLarge {
        /// The skill.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// Its `SKILL.md` no longer loads.
    #[error("the SKILL.md of {name} cannot be loaded: {why}")]
    Invalid {
        /// The skill.
        name: String,
        /// The first thing that is wrong with it.
        why: String,
    },
    /// The operating system refuses.
    #[error("the SKILL.md of {name} cannot be read: permission denied")]
    Permission {
        /// The skill.
        name: String,
    },
    /// Anything else.
    #[error("the SKILL.md of {name} cannot be read: {why}")]
    Io {
        /// The skill.
        name: String,
        /// Why.
        why: String,
    },
}

impl ActivateError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Closed(closed) => closed.code(),
            Self::Unverified(error) => error.code(),
            Self::Arguments(error) => error.code(),
            Self::Gone { .. } => ErrorCode::NotFound,
            Self::Link { .. } => ErrorCode::AccessDenied,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::Invalid { .. } => ErrorCode::InternalError,
            Self::Permission { .. } => ErrorCode::PermissionDenied,
            Self::NotAFile { .. } | Self::Io { .. } => ErrorCode::ExecutionError,
        }
    }

    pub(super) fn read(skill: &Skill, error: ReadError) -> Self {
        let name = shown_name(skill);
        match error {
            ReadError::NotAFile(kind) => Self::NotAFile { name, what: noun(kind) },
            ReadError::TooLarge(bytes) => Self::TooLarge { name, bytes },
            ReadError::Changing => Self::Io { name, why: "it changes while it is read".to_owned() },
            ReadError::Os(Errno::NOENT | Errno::NOTDIR) => Self::Gone { name },
            ReadError::Os(Errno::LOOP) => Self::Link { name },
            ReadError::Os(Errno::NXIO | Errno::NODEV) => {
                Self::NotAFile { name, what: "a socket or a device" }
            }
            ReadError::Os(Errno::ACCESS | Errno::PERM) => Self::Permission { name },
            ReadError::Os(other) => Self::Io { name, why: std::io::Error::from(other).kind().to_string() },
        }
    }

    pub(super) fn invalid(skill: &Skill, diagnostics: &[Diagnostic]) -> Self {
        let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let why = first.map_or("there is no frontmatter", |diagnostic| &diagnostic.message);
        Self::Invalid { name: shown_name(skill), why: shown(why) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::FileType;

    #[test]
    fn s001_19_each_failure_has_its_code() {
        let registry = crate::Registry::open(crate::Policy::default()).unwrap();
        let snapshot = registry.snapshot();
        let skill = snapshot.get("hello-world").unwrap();
        let code = |error| ActivateError::read(skill, error).code().as_str();
        assert_eq!(code(ReadError::Os(Errno::ACCESS)), "PERMISSION_DENIED");
        assert_eq!(code(ReadError::Os(Errno::NOENT)), "NOT_FOUND");
        assert_eq!(code(ReadError::Os(Errno::IO)), "EXECUTION_ERROR");
        assert_eq!(code(ReadError::Os(Errno::LOOP)), "ACCESS_DENIED");
        assert_eq!(code(ReadError::Changing), "EXECUTION_ERROR");
        assert_eq!(code(ReadError::NotAFile(FileType::Fifo)), "EXECUTION_ERROR");
        assert_eq!(code(ReadError::TooLarge(u64::MAX)), "TOO_LARGE");
        assert_eq!(ActivateError::invalid(skill, &[]).code().as_str(), "INTERNAL_ERROR");
    }
}
