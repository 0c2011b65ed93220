//! Errors when activating a skill. Models read the messages, so they never contain a path of this machine.

use prowess_format::Diagnostic;

use super::arguments::ParseArgumentsError;
use crate::error_code::ErrorCode;
use crate::remote::RemoteFileError;
use crate::resources::describe_file_type;
use crate::resources::open::FILE_MAX;
use crate::skill::{ResourceUnavailable, Skill, display_name, display_text};
use prowess_fs::{Errno, ReadError};

/// The reason why a skill could not be activated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActivateError {
    /// Its status does not allow it.
    #[error(transparent)]
    Unavailable(#[from] ResourceUnavailable),
    /// The file of a remote skill could not be fetched or differs from the listing.
    #[error(transparent)]
    Remote(#[from] RemoteFileError),
    /// The arguments are invalid.
    #[error(transparent)]
    Arguments(#[from] ParseArgumentsError),
    /// Its `SKILL.md` was deleted since discovery.
    #[error("the SKILL.md of {name} no longer exists")]
    Gone {
        /// The skill's name.
        name: String,
    },
    /// Its `SKILL.md` or a directory above it was replaced by a symlink since discovery.
    #[error("the SKILL.md of {name} was replaced by a symlink, which is not followed")]
    Link {
        /// The skill's name.
        name: String,
    },
    /// Its `SKILL.md` was replaced by something that is not a file.
    #[error("the SKILL.md of {name} is {file_type}, not a file")]
    NotAFile {
        /// The skill's name.
        name: String,
        /// The type of the file, with its article.
        file_type: &'static str,
    },
    /// Its `SKILL.md` exceeds the hard limit.
    #[error("the SKILL.md of {name} has {bytes} bytes; the limit is {FILE_MAX}")]
    TooLarge {
        /// The skill's name.
        name: String,
        /// The size in bytes.
        bytes: u64,
    },
    /// Its `SKILL.md` is no longer valid.
    #[error("cannot load the SKILL.md of {name}: {reason}")]
    Invalid {
        /// The skill's name.
        name: String,
        /// The first error.
        reason: String,
    },
    /// Access was denied by the operating system.
    #[error("cannot read the SKILL.md of {name}: permission denied")]
    Permission {
        /// The skill's name.
        name: String,
    },
    /// Any other I/O error.
    #[error("cannot read the SKILL.md of {name}: {reason}")]
    Io {
        /// The skill's name.
        name: String,
        /// The cause.
        reason: String,
    },
}

impl ActivateError {
    /// Returns the error code that tools report.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(error) => error.code(),
            Self::Remote(error) => error.code(),
            Self::Arguments(error) => error.code(),
            Self::Gone { .. } => ErrorCode::NotFound,
            Self::Link { .. } => ErrorCode::AccessDenied,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::Invalid { .. } => ErrorCode::InternalError,
            Self::Permission { .. } => ErrorCode::PermissionDenied,
            Self::NotAFile { .. } | Self::Io { .. } => ErrorCode::ExecutionError,
        }
    }

    pub(super) fn from_read_error(skill: &Skill, error: ReadError) -> Self {
        let name = display_name(skill);
        match error {
            ReadError::NotAFile(kind) => Self::NotAFile { name, file_type: describe_file_type(kind) },
            ReadError::TooLarge(bytes) => Self::TooLarge { name, bytes },
            ReadError::Changing => Self::Io { name, reason: "the file changed while it was read".to_owned() },
            ReadError::Os(Errno::NOENT | Errno::NOTDIR) => Self::Gone { name },
            ReadError::Os(Errno::LOOP) => Self::Link { name },
            ReadError::Os(Errno::NXIO | Errno::NODEV) => {
                Self::NotAFile { name, file_type: "a socket or a device" }
            }
            ReadError::Os(Errno::ACCESS | Errno::PERM) => Self::Permission { name },
            ReadError::Os(errno) => Self::Io { name, reason: std::io::Error::from(errno).kind().to_string() },
        }
    }

    pub(super) fn invalid(skill: &Skill, diagnostics: &[Diagnostic]) -> Self {
        let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let reason = first.map_or("there is no frontmatter", |diagnostic| &diagnostic.message);
        Self::Invalid { name: display_name(skill), reason: display_text(reason) }
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
        let code = |error| ActivateError::from_read_error(skill, error).code().as_str();
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
