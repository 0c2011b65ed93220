//! Copies of an installed skill in the directories of other agents.
//!
//! Invariant: only a directory that is identical to the installed skill is treated as a copy. Modified directories
//! belong to the user.

use std::fs;
use std::path::{Path, PathBuf};

use prowess::HashedTree;

use super::link::{AgentScope, LinkError, canonicalize_existing_part, resolve_agent_dir};
use crate::agents::{AGENTS, KnownAgent};
use prowess_archive::InnerPath;
use prowess_archive::limits::{DEPTH_MAX, FILES_MAX, TOTAL_MAX};

/// A copy of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillCopy {
    /// The agent.
    pub agent: &'static KnownAgent,
    /// The directory.
    pub path: PathBuf,
}

/// Finds the copies of an installed skill with this tree hash.
pub fn find_copies(skill: &Path, tree: &str, scope: AgentScope<'_>) -> Vec<SkillCopy> {
    let Some(name) = skill.file_name() else { return Vec::new() };
    let canonical = canonicalize_existing_part(skill);
    let mut copies: Vec<SkillCopy> = Vec::new();
    for agent in AGENTS {
        let Some(Ok(dir)) = scope.agent_dir(agent).map(|dir| resolve_agent_dir(&dir, scope)) else {
            continue;
        };
        let path = dir.join(name);
        let is_known = || path == canonical || copies.iter().any(|copy| copy.path == path);
        if !is_known() && is_copy_of(&path, tree) {
            copies.push(SkillCopy { agent, path });
        }
    }
    copies
}

impl SkillCopy {
    /// Replaces the copy by the current skill.
    pub fn refresh(&self, skill: &Path) -> Result<(), LinkError> {
        refresh_copy(&self.path, skill)
    }

    /// Removes the copy.
    pub fn remove(&self) -> Result<(), LinkError> {
        remove_copy(&self.path)
    }
}

/// Replaces the copy at a path by the current skill.
pub(crate) fn refresh_copy(path: &Path, skill: &Path) -> Result<(), LinkError> {
    let staging = staging_path(path);
    copy_to_staging(skill, &staging)?;
    let swapped = match prowess_fs::exchange(&staging, path) {
        Ok(true) => Ok(()),
        // Not every file system can exchange names.
        Ok(false) | Err(_) => fs::remove_dir_all(path).and_then(|()| fs::rename(&staging, path)),
    };
    // The staging directory contains the old copy. Errors are ignored: a leftover does no harm.
    let _ = fs::remove_dir_all(&staging);
    swapped.map_err(|source| LinkError::Io { path: path.to_owned(), source })
}

/// Removes the copy at a path.
pub(crate) fn remove_copy(path: &Path) -> Result<(), LinkError> {
    let staging = staging_path(path);
    let _ = fs::remove_dir_all(&staging);
    let moved = fs::rename(path, &staging).and_then(|()| fs::remove_dir_all(&staging));
    moved.map_err(|source| LinkError::Io { path: path.to_owned(), source })
}

/// Returns `true` if a directory has this tree hash.
pub(crate) fn is_copy_of(path: &Path, tree: &str) -> bool {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    is_dir && HashedTree::from_dir(path).is_ok_and(|copy| copy.hash() == tree)
}

pub(super) fn staging_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".prowess-new");
    path.with_file_name(name)
}

/// Copies a skill to a hidden staging path, replacing what a killed process left there.
pub(super) fn copy_to_staging(skill: &Path, staging: &Path) -> Result<(), LinkError> {
    let _ = fs::remove_dir_all(staging);
    let mut budget = CopyBudget { files: FILES_MAX, bytes: TOTAL_MAX };
    copy_dir(skill, staging, 0, &mut budget).inspect_err(|_| drop(fs::remove_dir_all(staging)))
}

/// The remaining limits of a copy.
struct CopyBudget {
    files: usize,
    bytes: u64,
}

/// Copies regular files and directories; rejects anything else.
fn copy_dir(from: &Path, to: &Path, depth: usize, budget: &mut CopyBudget) -> Result<(), LinkError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| LinkError::Io { path, source }
    };
    let not_copyable = |path: &Path, reason| LinkError::NotCopyable { path: path.to_owned(), reason };
    if depth > DEPTH_MAX {
        return Err(not_copyable(from, "it is nested too deeply"));
    }
    fs::create_dir(to).map_err(io(to))?;
    for entry in fs::read_dir(from).map_err(io(from))? {
        let entry = entry.map_err(io(from))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(io(from))?);
        let name = entry.file_name();
        if name.to_str().is_none_or(|name| InnerPath::parse(name.as_bytes()).is_err()) {
            return Err(not_copyable(&path, "its name is not portable"));
        }
        budget.files =
            budget.files.checked_sub(1).ok_or_else(|| not_copyable(from, "it has too many files"))?;
        let target = to.join(&name);
        if kind.is_dir() {
            copy_dir(&path, &target, depth + 1, budget)?;
        } else if kind.is_file() {
            let bytes = fs::metadata(&path).map_err(io(&path))?.len();
            budget.bytes =
                budget.bytes.checked_sub(bytes).ok_or_else(|| not_copyable(from, "it is too large"))?;
            fs::copy(&path, &target).map_err(io(&path))?;
        } else {
            return Err(not_copyable(&path, "it is a symlink or a special file"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_identical_directory_is_a_copy() {
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
        let tree = HashedTree::from_dir(&skill).unwrap().hash();
        let scope = AgentScope::Project(&base);
        let found = find_copies(&skill, &tree, scope);
        assert_eq!(found.iter().map(|copy| copy.agent.id).collect::<Vec<_>>(), ["claude-code"]);
        write(".agents/skills/pdf/SKILL.md", "two");
        found[0].refresh(&skill).unwrap();
        assert_eq!(fs::read_to_string(base.join(".claude/skills/pdf/SKILL.md")).unwrap(), "two");
        assert_eq!(fs::read_dir(base.join(".claude/skills")).unwrap().count(), 1);
        found[0].remove().unwrap();
        assert_eq!(fs::read_dir(base.join(".claude/skills")).unwrap().count(), 0);
        assert_eq!(find_copies(&skill, &tree, scope), []);
    }
}
