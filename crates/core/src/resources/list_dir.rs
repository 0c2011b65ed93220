//! Lists the direct children of a directory of a skill.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::ReadResourceError;
use super::open_skill_dir;
use super::path::RelativePath;
use super::skill_files::{FILES_MAX, skill_too_large};
use crate::file_listing::{FileListing, is_git_path};
use crate::skill::{ResourceUnavailable, Skill, SkillLink, display_text};
use prowess_fs::EntryKind;

/// A file or subdirectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildEntry {
    /// Its name.
    pub name: String,
    /// The size of a file; `None` for a directory.
    pub bytes: Option<u64>,
}

/// Lists a directory of a skill, sorted by name; an empty path means the skill's own directory. Omits
/// everything that is never read: symlinks, special files, and names that are not Unicode.
///
/// ```
/// use prowess::{Policy, Registry, resources};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let snapshot = Registry::open(Policy::default())?.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("missing bundled skill")?;
/// let names: Vec<_> = resources::list_dir(skill, "")?.into_iter().map(|child| child.name).collect();
/// assert!(names.contains(&"SKILL.md".to_owned()) && names.contains(&"references".to_owned()));
/// assert!(resources::list_dir(skill, "SKILL.md").is_err());
/// # Ok(())
/// # }
/// ```
pub fn list_dir(skill: &Skill, path: &str) -> Result<Vec<ChildEntry>, ReadResourceError> {
    if let Some(unavailable) = ResourceUnavailable::for_reading(skill) {
        return Err(unavailable.into());
    }
    let inner = if path.is_empty() { String::new() } else { RelativePath::parse(path)?.into_string() };
    let not_found = || ReadResourceError::NotFound { path: display_text(path), nearest: None };
    if is_git_path(&inner) {
        return Err(not_found());
    }
    let children = match skill.root().is_dir() {
        true => from_disk(skill, &inner)?,
        false => from_listing(&FileListing::for_skill(skill), &inner).ok_or_else(not_found)?,
    };
    Ok(children.into_iter().map(|(name, bytes)| ChildEntry { name, bytes }).collect())
}

/// Derives the children of a directory from a list of all files, which contains no empty directories.
fn from_listing(listing: &FileListing, inner: &str) -> Option<BTreeMap<String, Option<u64>>> {
    let prefix = if inner.is_empty() { String::new() } else { format!("{inner}/") };
    let mut children = BTreeMap::new();
    for file in &listing.files {
        let Some(inner_path) = file.path.strip_prefix(&prefix) else { continue };
        match inner_path.split_once('/') {
            Some((dir, _)) => children.insert(dir.to_owned(), None),
            None => children.insert(inner_path.to_owned(), Some(file.bytes)),
        };
    }
    (!children.is_empty()).then_some(children)
}

fn from_disk(skill: &Skill, inner: &str) -> Result<BTreeMap<String, Option<u64>>, ReadResourceError> {
    let top = open_skill_dir(skill)?;
    let dir = match inner {
        "" => top,
        inner => {
            top.open_dir(Path::new(inner)).map_err(|error| ReadResourceError::from_errno(inner, error))?
        }
    };
    let entries = dir.entries(2 * FILES_MAX).map_err(|error| ReadResourceError::from_errno(inner, error))?;
    if entries.truncated {
        return Err(skill_too_large(inner));
    }
    let mut children = BTreeMap::new();
    for entry in entries.entries {
        let Some(name) = entry.name.to_str() else { continue };
        match entry.kind {
            EntryKind::Dir if inner.is_empty() && is_git_path(name) => {}
            EntryKind::Dir => drop(children.insert(name.to_owned(), None)),
            EntryKind::File => {
                // The file was deleted in the meantime.
                let Ok(stat) = dir.stat(Path::new(name)) else { continue };
                children.insert(name.to_owned(), Some(stat.size()));
            }
            EntryKind::Symlink | EntryKind::Special => {}
        }
    }
    if let (Some(SkillLink { is_dir: false, .. }), true) = (skill.link(), inner.is_empty()) {
        // The skill's own file is a symlink to a known directory, so it was followed.
        children.insert(skill.file.as_str().to_owned(), Some(skill.skill_md_size()));
    }
    Ok(children)
}
