//! Copies of an installed skill in the folders of other agents: made whole, and kept in step with it.
//!
//! What must always hold: only a folder that is byte for byte what was installed is taken for a copy. Whatever somebody
//! changed is theirs.

use std::fs;
use std::path::{Path, PathBuf};

use prowess::HashedTree;

use super::link::{LinkError, Place, canonical, resolved};
use crate::agents::{AGENTS, Agent};
use prowess_archive::InnerPath;
use prowess_archive::limits::{DEPTH_MAX, FILES_MAX, TOTAL_MAX};

/// A copy of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Whose.
    pub agent: &'static Agent,
    /// Where.
    pub at: PathBuf,
}

/// The copies of what was installed in a folder with this tree hash.
pub fn copies(skill: &Path, tree: &str, place: Place<'_>) -> Vec<Copied> {
    let Some(name) = skill.file_name() else { return Vec::new() };
    let own = canonical(skill);
    let mut found: Vec<Copied> = Vec::new();
    for agent in AGENTS {
        let Some(Ok(folder)) = place.folder(agent).map(|folder| resolved(&folder, place)) else { continue };
        let at = folder.join(name);
        let is_known = || at == own || found.iter().any(|copied| copied.at == at);
        let is_folder = fs::symlink_metadata(&at).is_ok_and(|there| there.is_dir());
        if is_folder && !is_known() && HashedTree::of(&at).is_ok_and(|there| there.hash() == tree) {
            found.push(Copied { agent, at });
        }
    }
    found
}

impl Copied {
    /// Puts what the skill is now in the place of the copy.
    pub fn refresh(&self, skill: &Path) -> Result<(), LinkError> {
        let staged = staged(&self.at);
        copied(skill, &staged)?;
        let swapped = match prowess_fs::exchange(&staged, &self.at) {
            Ok(true) => Ok(()),
            // Not every file system can exchange names.
            Ok(false) | Err(_) => fs::remove_dir_all(&self.at).and_then(|()| fs::rename(&staged, &self.at)),
        };
        // By now the old copy, or one that nobody needs; what cannot be removed is in nobody's way.
        let _ = fs::remove_dir_all(&staged);
        swapped.map_err(|source| LinkError::Io { path: self.at.clone(), source })
    }

    /// Removes the copy.
    pub fn remove(&self) -> Result<(), LinkError> {
        let staged = staged(&self.at);
        let _ = fs::remove_dir_all(&staged);
        let moved = fs::rename(&self.at, &staged).and_then(|()| fs::remove_dir_all(&staged));
        moved.map_err(|source| LinkError::Io { path: self.at.clone(), source })
    }
}

pub(super) fn staged(at: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(at.file_name().unwrap_or_default());
    name.push(".prowess-new");
    at.with_file_name(name)
}

/// Copies a skill to where nobody looks, in the place of what a killed process left there half-made.
pub(super) fn copied(skill: &Path, staged: &Path) -> Result<(), LinkError> {
    let _ = fs::remove_dir_all(staged);
    let mut left = Left { files: FILES_MAX, bytes: TOTAL_MAX };
    copy(skill, staged, 0, &mut left).inspect_err(|_| drop(fs::remove_dir_all(staged)))
}

/// What may still be copied.
struct Left {
    files: usize,
    bytes: u64,
}

/// Copies regular files and folders; anything else is no part of a skill.
fn copy(from: &Path, to: &Path, depth: usize, left: &mut Left) -> Result<(), LinkError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| LinkError::Io { path, source }
    };
    let unfit = |path: &Path, why| LinkError::Unfit { path: path.to_owned(), why };
    if depth > DEPTH_MAX {
        return Err(unfit(from, "it is too deep"));
    }
    fs::create_dir(to).map_err(io(to))?;
    for entry in fs::read_dir(from).map_err(io(from))? {
        let entry = entry.map_err(io(from))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(io(from))?);
        let name = entry.file_name();
        if name.to_str().is_none_or(|name| InnerPath::parse(name.as_bytes()).is_err()) {
            return Err(unfit(&path, "its name is not one for every system"));
        }
        left.files = left.files.checked_sub(1).ok_or_else(|| unfit(from, "it has too many files"))?;
        let target = to.join(&name);
        if kind.is_dir() {
            copy(&path, &target, depth + 1, left)?;
        } else if kind.is_file() {
            let bytes = fs::metadata(&path).map_err(io(&path))?.len();
            left.bytes = left.bytes.checked_sub(bytes).ok_or_else(|| unfit(from, "it is too large"))?;
            fs::copy(&path, &target).map_err(io(&path))?;
        } else {
            return Err(unfit(&path, "it is a link or a special file"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_installed_is_a_copy() {
        let project = tempfile::tempdir().unwrap();
        let base = project.path().canonicalize().unwrap();
        let write = |inner: &str, text: &str| {
            fs::create_dir_all(base.join(inner).parent().unwrap()).unwrap();
            fs::write(base.join(inner), text).unwrap();
        };
        write(".agents/skills/pdf/SKILL.md", "one");
        write(".claude/skills/pdf/SKILL.md", "one");
        write(".goose/skills/pdf/SKILL.md", "mine");
        let skill = base.join(".agents/skills/pdf");
        let tree = HashedTree::of(&skill).unwrap().hash();
        let place = Place::Project(&base);
        let found = copies(&skill, &tree, place);
        assert_eq!(found.iter().map(|copied| copied.agent.id).collect::<Vec<_>>(), ["claude-code"]);
        write(".agents/skills/pdf/SKILL.md", "two");
        found[0].refresh(&skill).unwrap();
        assert_eq!(fs::read_to_string(base.join(".claude/skills/pdf/SKILL.md")).unwrap(), "two");
        assert_eq!(fs::read_dir(base.join(".claude/skills")).unwrap().count(), 1);
        found[0].remove().unwrap();
        assert_eq!(fs::read_dir(base.join(".claude/skills")).unwrap().count(), 0);
        assert_eq!(copies(&skill, &tree, place), []);
    }
}
