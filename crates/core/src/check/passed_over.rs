//! Finds the skills that a check does not read.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use prowess_fs::{Dir, EntryKind};

use super::{CheckedSkill, CheckedTree};

/// The maximum depth below a dependency directory, and the maximum number of directories that are searched.
const DEPTH_MAX: usize = 32;
const DIRS_MAX: usize = 200_000;

/// The maximum number of entries that are read of a directory.
const ENTRIES_MAX: usize = 100_000;

prowess_format::named_enum! {
    /// Why a check does not read a `SKILL.md`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PassedOverReason {
        /// It is in a directory of dependencies, such as `node_modules`.
        Dependency = "dependency",
        /// It is behind a symlink to a directory.
        Symlink = "symlink",
        /// It is inside another skill, to which it belongs.
        Nested = "nested",
    }
}

/// A `SKILL.md` that a check does not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassedOverSkill {
    /// The path of the `SKILL.md`.
    pub path: PathBuf,
    /// Why it is not read.
    pub reason: PassedOverReason,
}

/// Finds every `SKILL.md` in the directories of a tree that were not searched, by path. Only names are read.
///
/// Behind a symlink, only the directory and its direct children are searched: it may lead anywhere. A skill that was checked
/// by another path is left out.
pub fn find_passed_over(tree: &CheckedTree) -> Vec<PassedOverSkill> {
    let mut found: Vec<_> = tree
        .nested
        .iter()
        .map(|dir| PassedOverSkill { path: dir.join("SKILL.md"), reason: PassedOverReason::Nested })
        .collect();
    let mut remaining = DIRS_MAX;
    let mut checked: Option<HashSet<PathBuf>> = None;
    for dir in &tree.skipped_dirs {
        let is_symlink = dir.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        if !is_symlink {
            let paths = search(dir, DEPTH_MAX, &mut remaining);
            let reason = PassedOverReason::Dependency;
            found.extend(paths.into_iter().map(|path| PassedOverSkill { path, reason }));
            continue;
        }
        let checked = checked.get_or_insert_with(|| canonical_paths(&tree.checked));
        let is_checked = |path: &PathBuf| path.canonicalize().is_ok_and(|path| checked.contains(&path));
        let paths = search(dir, 1, &mut remaining).into_iter().filter(|path| !is_checked(path));
        let reason = PassedOverReason::Symlink;
        found.extend(paths.map(|path| PassedOverSkill { path, reason }));
    }
    found.sort();
    found.dedup();
    found
}

fn canonical_paths(checked: &[CheckedSkill]) -> HashSet<PathBuf> {
    checked.iter().filter_map(|checked| checked.path.canonicalize().ok()).collect()
}

/// Returns the `SKILL.md` files in a directory and up to `depth` levels below it. No symlink below it is followed.
fn search(dir: &Path, depth: usize, remaining: &mut usize) -> Vec<PathBuf> {
    let Ok(root) = Dir::open(dir) else { return Vec::new() };
    let mut found = Vec::new();
    let mut level = vec![PathBuf::from(".")];
    for _ in 0..=depth {
        let mut next = Vec::new();
        for inner in level {
            let Some(left) = remaining.checked_sub(1) else { return found };
            *remaining = left;
            let entries = root.open_dir(&inner).and_then(|dir| dir.entries(ENTRIES_MAX));
            for entry in entries.map_or_else(|_| Vec::new(), |entries| entries.entries) {
                match entry.kind {
                    EntryKind::Dir => next.push(inner.join(&*entry.name)),
                    EntryKind::File if *entry.name == *OsStr::new("SKILL.md") => {
                        found.push(super::normalize(&dir.join(&inner).join(&*entry.name)));
                    }
                    EntryKind::File | EntryKind::Symlink | EntryKind::Special => {}
                }
            }
        }
        level = next;
    }
    found
}
