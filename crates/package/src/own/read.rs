//! Reading a file of one's own skill, to change it: whatever became of the skill, and exactly as it is.

use std::path::Path;

use prowess::{ErrorCode, Policy, Skill, Surroundings};
use prowess_fs::{FileType, Folder, ReadError, read_whole, words};

use super::OwnError;
use crate::place::Place;
use prowess_archive::InnerPath;
use prowess_archive::code;
use prowess_archive::limits::FILE_MAX;

/// The bytes of a file of a skill of the user's. No link is followed.
pub fn read(skill: &Skill, path: &str, policy: &Policy, world: &Surroundings) -> Result<Vec<u8>, OwnError> {
    let not_own = |why| OwnError::NotOwn { name: skill.name().into_owned(), why };
    Place::of_own(skill, policy, world).map_err(not_own)?;
    let parsed = InnerPath::parse(path.as_bytes());
    let inner = parsed.map_err(|why| OwnError::Path { path: path.to_owned(), why })?;
    let failed = |code, why: String| OwnError::File { path: inner.to_string(), code, why };
    let opened = Folder::open_resolved(&skill.canonical_folder())
        .and_then(|folder| folder.file(Path::new(inner.as_str())));
    let (file, stat) = opened.map_err(|error| failed(code(error), words(error)))?;
    read_whole(&file, &stat, FILE_MAX).map_err(|error| {
        let code = match error {
            ReadError::NotAFile(FileType::Directory) => ErrorCode::IsDirectory,
            ReadError::NotAFile(_) => ErrorCode::AccessDenied,
            ReadError::TooLarge(_) => ErrorCode::TooLarge,
            ReadError::Changing => ErrorCode::Conflict,
            ReadError::Os(error) => code(error),
        };
        failed(code, error.to_string())
    })
}
