//! Why something cannot be packed.

use std::path::PathBuf;

use prowess::ErrorCode;
use prowess::shell::quote_path;

use crate::{PathError, TreeFailure};
use prowess_archive::ArchiveError;
use prowess_archive::limits::{FILES_MAX, TOTAL_MAX};

/// Why something cannot be packed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The folder, or a file in it, cannot be read.
    #[error(transparent)]
    Read(#[from] TreeFailure),
    /// A link, FIFO or the like.
    #[error("{} has “{entry}”, which is not a regular file", folder.display())]
    NotRegular {
        /// The skill's folder.
        folder: PathBuf,
        /// The entry.
        entry: String,
    },
    /// A name that others would refuse.
    #[error("{} has “{entry}”, a name that is refused: {why}", folder.display())]
    Name {
        /// The skill's folder.
        folder: PathBuf,
        /// The entry.
        entry: String,
        /// Why.
        why: PathError,
    },
    /// No skill, or one that does not load.
    #[error("{} is no skill: {why}", folder.display())]
    NotASkill {
        /// The folder.
        folder: PathBuf,
        /// Why.
        why: String,
    },
    /// Two skills of one name.
    #[error("two skills are called “{0}”")]
    Twice(String),
    /// A folder without skills.
    #[error("there is no skill in {}", .0.display())]
    Nothing(PathBuf),
    /// More than a skill may have.
    #[error("{} has more than {FILES_MAX} files or {} MiB", .0.display(), TOTAL_MAX >> 20)]
    TooLarge(PathBuf),
    /// The result would lie in what is packed.
    #[error("{} lies in the skill that is packed", .0.display())]
    Inside(PathBuf),
    /// It would be refused on the other side.
    #[error("what was packed would be refused: {0}")]
    Refused(ArchiveError),
    /// The result cannot be written.
    #[error("{} cannot be written: {why}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl PackError {
    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Read(failure) => failure.code,
            Self::NotRegular { .. } | Self::Name { .. } => ErrorCode::AccessDenied,
            // The same as for installing one.
            Self::NotASkill { .. } => ErrorCode::InternalError,
            Self::Inside(_) => ErrorCode::InvalidParam,
            Self::Twice(_) => ErrorCode::Conflict,
            Self::Nothing(_) => ErrorCode::NotFound,
            Self::TooLarge(_) => ErrorCode::TooLarge,
            Self::Refused(error) => error.code(),
            Self::Write { .. } => ErrorCode::ExecutionError,
        }
    }

    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotRegular { .. } => Some("put the file itself there, or leave it out".to_owned()),
            Self::NotASkill { folder, .. } => Some(match folder.join("SKILL.md").exists() {
                true => format!("prowess check {} shows the lines", quote_path(folder)),
                false => format!("to pack a folder of skills: prowess index {}", quote_path(folder)),
            }),
            Self::Nothing(_) => Some("name the folder in which the folders of skills lie".to_owned()),
            Self::Inside(_) => Some("write it somewhere else".to_owned()),
            _ => None,
        }
    }
}
