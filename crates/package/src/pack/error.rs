//! Errors of packing a skill.

use std::path::PathBuf;

use prowess::ErrorCode;
use prowess::shell::quote_path;

use crate::{InnerPathError, SourceReadError};
use prowess_archive::ArchiveError;
use prowess_archive::limits::{FILES_MAX, TOTAL_MAX};

/// The reason why a skill cannot be packed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The directory, or a file in it, cannot be read.
    #[error(transparent)]
    Read(#[from] SourceReadError),
    /// A symlink, FIFO or other special file.
    #[error("{} contains “{entry}”, which is not a regular file", dir.display())]
    NotRegularFile {
        /// The skill's directory.
        dir: PathBuf,
        /// The entry.
        entry: String,
    },
    /// The path is not portable.
    #[error("{} contains “{entry}”, which is not a valid path: {reason}", dir.display())]
    InvalidPath {
        /// The skill's directory.
        dir: PathBuf,
        /// The entry.
        entry: String,
        /// The reason.
        reason: InnerPathError,
    },
    /// The directory is not a valid skill.
    #[error("{} is not a skill: {reason}", dir.display())]
    NotASkill {
        /// The directory.
        dir: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The plugin has an error, so that it would not be installed as a whole.
    #[error("{} is not a valid plugin: {reason}", dir.display())]
    InvalidPlugin {
        /// The directory.
        dir: PathBuf,
        /// The first error.
        reason: String,
    },
    /// Two skills have the same name.
    #[error("two skills have the name “{0}”")]
    DuplicateName(String),
    /// The directory contains no skills.
    #[error("no skill in {}", .0.display())]
    NoSkills(PathBuf),
    /// The skill exceeds the limits.
    #[error("{} has more than {FILES_MAX} files or {} MiB", .0.display(), TOTAL_MAX >> 20)]
    TooLarge(PathBuf),
    /// The output would be inside the packed skill.
    #[error("{} is inside the skill to pack", .0.display())]
    OutputInsideSkill(PathBuf),
    /// The archive would be rejected when installing it.
    #[error("the packed archive is invalid: {0}")]
    InvalidArchive(ArchiveError),
    /// The output cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
}

impl PackError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Read(failure) => failure.code,
            Self::NotRegularFile { .. } | Self::InvalidPath { .. } => ErrorCode::AccessDenied,
            // The same code as for installing it.
            Self::NotASkill { .. } | Self::InvalidPlugin { .. } => ErrorCode::InternalError,
            Self::OutputInsideSkill(_) => ErrorCode::InvalidParam,
            Self::DuplicateName(_) => ErrorCode::Conflict,
            Self::NoSkills(_) => ErrorCode::NotFound,
            Self::TooLarge(_) => ErrorCode::TooLarge,
            Self::InvalidArchive(error) => error.code(),
            Self::Write { .. } => ErrorCode::ExecutionError,
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotRegularFile { .. } => Some("replace it by a regular file, or remove it".to_owned()),
            Self::NotASkill { dir, .. } => Some(match dir.join("SKILL.md").exists() {
                true => format!("run `prowess check {}`", quote_path(dir)),
                false => format!("to pack a directory of skills: prowess index {}", quote_path(dir)),
            }),
            Self::InvalidPlugin { dir, .. } => Some(format!("run `prowess check {}`", quote_path(dir))),
            Self::NoSkills(_) => {
                Some("pass the directory that contains the directories of the skills".to_owned())
            }
            Self::OutputInsideSkill(_) => Some("choose another output path".to_owned()),
            _ => None,
        }
    }
}
