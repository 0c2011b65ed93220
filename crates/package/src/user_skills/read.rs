//! Reads a file of a user's skill for editing, unmodified, even if the skill is not available.

use std::path::Path;

use prowess::{ErrorCode, HostEnv, Policy, Skill};
use prowess_fs::{Dir, FileType, ReadError, describe_errno, read_whole};

use super::UserSkillError;
use crate::install_target::InstallTarget;
use prowess_archive::InnerPath;
use prowess_archive::errno_to_code;
use prowess_archive::limits::FILE_MAX;

/// Returns the contents of a file of a user's skill. Symlinks are not followed.
pub fn read_skill_file(
    skill: &Skill,
    path: &str,
    policy: &Policy,
    host: &HostEnv,
) -> Result<Vec<u8>, UserSkillError> {
    let not_editable = |reason| UserSkillError::NotEditable { name: skill.name().into_owned(), reason };
    InstallTarget::for_editing(skill, policy, host).map_err(not_editable)?;
    let parsed = InnerPath::parse(path.as_bytes());
    let inner = parsed.map_err(|reason| UserSkillError::InvalidPath { path: path.to_owned(), reason })?;
    let failed = |code, message: String| UserSkillError::File { path: inner.to_string(), code, message };
    let opened =
        Dir::open_resolved(&skill.canonical_dir()).and_then(|dir| dir.open_file(Path::new(inner.as_str())));
    let (file, stat) = opened.map_err(|error| failed(errno_to_code(error), describe_errno(error)))?;
    read_whole(&file, &stat, FILE_MAX).map_err(|error| {
        let code = match error {
            ReadError::NotAFile(FileType::Directory) => ErrorCode::IsDirectory,
            ReadError::NotAFile(_) => ErrorCode::AccessDenied,
            ReadError::TooLarge(_) => ErrorCode::TooLarge,
            ReadError::Changing => ErrorCode::Conflict,
            ReadError::Os(error) => errno_to_code(error),
        };
        failed(code, error.to_string())
    })
}
