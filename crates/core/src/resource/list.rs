//! What files a skill has, and which of them was meant.

use std::path::Path;

use prowess_format::suggest;

use super::{AccessError, open_folder};
use crate::contents::Contents;
use crate::skill::{Closed, Skill, shown};

/// The three folders that skills keep their files in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Programs.
    Scripts,
    /// Texts to read.
    References,
    /// Templates, pictures, data.
    Assets,
}

impl Kind {
    /// The folder's name.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Scripts => "scripts",
            Self::References => "references",
            Self::Assets => "assets",
        }
    }
}

/// Lists the files of a skill, or of one of its three folders. The listing is bounded and says so if it was
/// cut; a folder that is not there has no files.
pub fn list(skill: &Skill, kind: Option<Kind>) -> Result<Contents, AccessError> {
    if let Some(closed) = Closed::to_reading(skill) {
        return Err(closed.into());
    }
    listing(skill, kind)
}

fn listing(skill: &Skill, kind: Option<Kind>) -> Result<Contents, AccessError> {
    if !skill.root().is_folder() {
        let mut contents = Contents::of(skill);
        if let Some(kind) = kind {
            let below = format!("{}/", kind.folder());
            contents.files.retain(|file| file.path.starts_with(&below));
        }
        return Ok(contents);
    }
    let below = kind.map_or("", Kind::folder);
    Ok(Contents::beneath(&open_folder(skill)?, Path::new(below)))
}

/// The file that may have been meant by a path that leads nowhere.
pub(super) fn nearest(skill: &Skill, path: &str) -> Option<String> {
    let contents = listing(skill, None).ok()?;
    let files = || contents.files.iter().map(|file| file.path.as_str());
    let name = |path: &str| path.rsplit('/').next().map(str::to_lowercase);
    files()
        .find(|known| known.to_lowercase() == path.to_lowercase())
        .or_else(|| suggest::nearest(path, files()))
        .or_else(|| files().find(|known| name(known) == name(path)))
        .map(shown)
}
