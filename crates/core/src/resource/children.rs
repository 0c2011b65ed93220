//! What lies directly in a folder of a skill.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::AccessError;
use super::material::{FILES_MAX, too_large};
use super::open_folder;
use super::path::Inner;
use crate::contents::{Contents, is_gits};
use crate::skill::{Closed, Link, Skill, shown};
use prowess_fs::EntryKind;

/// A file or a folder in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its name there.
    pub name: String,
    /// The size of a file; folders have none.
    pub bytes: Option<u64>,
}

/// Lists a folder of a skill, the skill's own where the path is empty, sorted by name. An empty folder has no children.
/// What is never read is not listed: links, special files, and names that are not Unicode.
///
/// ```
/// use prowess::{Policy, Registry, resource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let snapshot = Registry::open(Policy::default())?.snapshot();
/// let skill = snapshot.get("skills-system-validation").ok_or("it is bundled")?;
/// let names: Vec<_> = resource::children(skill, "")?.into_iter().map(|child| child.name).collect();
/// assert!(names.contains(&"SKILL.md".to_owned()) && names.contains(&"references".to_owned()));
/// assert!(resource::children(skill, "SKILL.md").is_err());
/// # Ok(())
/// # }
/// ```
pub fn children(skill: &Skill, path: &str) -> Result<Vec<Child>, AccessError> {
    if let Some(closed) = Closed::to_reading(skill) {
        return Err(closed.into());
    }
    let inner = if path.is_empty() { String::new() } else { Inner::parse(path)?.into_string() };
    let absent = || AccessError::NotFound { path: shown(path), nearest: None };
    if is_gits(&inner) {
        return Err(absent());
    }
    let found = match skill.root().is_folder() {
        true => on_disk(skill, &inner)?,
        false => listed(&Contents::of(skill), &inner).ok_or_else(absent)?,
    };
    Ok(found.into_iter().map(|(name, bytes)| Child { name, bytes }).collect())
}

/// What a list of all files says of a folder. There are no empty ones in it.
fn listed(contents: &Contents, inner: &str) -> Option<BTreeMap<String, Option<u64>>> {
    let below = if inner.is_empty() { String::new() } else { format!("{inner}/") };
    let mut children = BTreeMap::new();
    for file in &contents.files {
        let Some(rest) = file.path.strip_prefix(&below) else { continue };
        match rest.split_once('/') {
            Some((folder, _)) => children.insert(folder.to_owned(), None),
            None => children.insert(rest.to_owned(), Some(file.bytes)),
        };
    }
    (!children.is_empty()).then_some(children)
}

fn on_disk(skill: &Skill, inner: &str) -> Result<BTreeMap<String, Option<u64>>, AccessError> {
    let top = open_folder(skill)?;
    let folder = match inner {
        "" => top,
        inner => top.folder(Path::new(inner)).map_err(|error| AccessError::os(inner, error))?,
    };
    let entries = folder.entries(2 * FILES_MAX).map_err(|error| AccessError::os(inner, error))?;
    if entries.cut {
        return Err(too_large(inner));
    }
    let mut children = BTreeMap::new();
    for entry in entries.list {
        let Some(name) = entry.name.to_str() else { continue };
        match entry.kind {
            EntryKind::Folder if inner.is_empty() && is_gits(name) => {}
            EntryKind::Folder => drop(children.insert(name.to_owned(), None)),
            EntryKind::File => {
                // One that went meanwhile is not there.
                let Ok(stat) = folder.stat(Path::new(name)) else { continue };
                children.insert(name.to_owned(), Some(stat.size()));
            }
            EntryKind::Link | EntryKind::Special => {}
        }
    }
    if let (Some(Link { folder: false, .. }), true) = (skill.link(), inner.is_empty()) {
        // Its own file was followed to where it is known to lie.
        children.insert(skill.file.as_str().to_owned(), Some(skill.bytes()));
    }
    Ok(children)
}
