//! Lists a skill's files, and suggests files for mistyped paths.

use std::path::Path;

use prowess_format::suggest;

use super::{ReadResourceError, open_skill_dir};
use crate::file_listing::FileListing;
use crate::skill::{ResourceUnavailable, Skill, display_text};

/// The three standard directories for a skill's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// Executable programs.
    Scripts,
    /// Documents.
    References,
    /// Templates, images and data.
    Assets,
}

impl ResourceKind {
    /// Returns the name of the directory.
    pub fn dir_name(self) -> &'static str {
        match self {
            Self::Scripts => "scripts",
            Self::References => "references",
            Self::Assets => "assets",
        }
    }
}

/// Lists the files of a skill, or of one of its standard directories. The listing is bounded and marks
/// truncation; a directory that does not exist has no files.
pub fn list_files(skill: &Skill, kind: Option<ResourceKind>) -> Result<FileListing, ReadResourceError> {
    if let Some(unavailable) = ResourceUnavailable::for_reading(skill) {
        return Err(unavailable.into());
    }
    listing(skill, kind)
}

fn listing(skill: &Skill, kind: Option<ResourceKind>) -> Result<FileListing, ReadResourceError> {
    if !skill.root().is_dir() {
        let mut contents = FileListing::for_skill(skill);
        if let Some(kind) = kind {
            let prefix = format!("{}/", kind.dir_name());
            contents.files.retain(|file| file.path.starts_with(&prefix));
        }
        return Ok(contents);
    }
    let subdir = kind.map_or("", ResourceKind::dir_name);
    Ok(FileListing::in_dir(&open_skill_dir(skill)?, Path::new(subdir)))
}

/// Returns the file that was probably meant by a path that does not exist.
pub(super) fn suggest_file(skill: &Skill, path: &str) -> Option<String> {
    let contents = listing(skill, None).ok()?;
    let files = || contents.files.iter().map(|file| file.path.as_str());
    let name = |path: &str| path.rsplit('/').next().map(str::to_lowercase);
    files()
        .find(|candidate| candidate.to_lowercase() == path.to_lowercase())
        .or_else(|| suggest::nearest(path, files()))
        .or_else(|| files().find(|candidate| name(candidate) == name(path)))
        .map(display_text)
}
