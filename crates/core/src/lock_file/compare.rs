//! Compares the files on disk with a lock entry.

use std::collections::BTreeSet;
use std::fmt;

use prowess_format::hidden::escape_and_truncate;

use super::file::LockEntry;
use prowess_fs::{HashedTree, TreeHashError};

prowess_format::named_enum! {
    /// How a file differs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FileChange {
        /// The bytes or the executable bit differ.
        Changed = "modified",
        /// The file is missing.
        Missing = "missing",
        /// The file is not in the lock file.
        Extra = "extra",
        /// The file was replaced by a symlink.
        Link = "link",
    }
}

/// The files that differ from a lock entry, sorted by path; empty if none does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockComparison {
    /// The paths and how they differ.
    pub files: Vec<(String, FileChange)>,
    /// Why the directory could not be compared as a whole.
    pub problem: Option<String>,
}

impl LockComparison {
    /// Returns `true` if nothing differs.
    pub fn is_unchanged(&self) -> bool {
        self.files.is_empty() && self.problem.is_none()
    }
}

/// Formats the first few differences for people and models: `changed SKILL.md, added x`.
impl fmt::Display for LockComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: usize = 5;
        let word = |change: &FileChange| match change {
            FileChange::Changed => "changed",
            FileChange::Missing => "missing",
            FileChange::Extra => "added",
            FileChange::Link => "symlink",
        };
        let mut parts: Vec<String> = self
            .files
            .iter()
            .take(SHOWN_MAX)
            .map(|(path, change)| format!("{} {}", word(change), escape_and_truncate(path)))
            .collect();
        if self.files.len() > SHOWN_MAX {
            parts.push(format!("and {} more", self.files.len() - SHOWN_MAX));
        }
        parts.extend(self.problem.as_deref().map(escape_and_truncate));
        f.write_str(&parts.join(", "))
    }
}

/// Compares hashed files with a lock entry.
pub fn compare_with_lock(locked: &LockEntry, tree: &Result<HashedTree, TreeHashError>) -> LockComparison {
    let tree = match tree {
        Ok(tree) => tree,
        Err(TreeHashError::NotRegular(path)) => {
            let files = vec![(path.to_string_lossy().into_owned(), FileChange::Link)];
            return LockComparison { files, problem: None };
        }
        Err(error) => return LockComparison { files: Vec::new(), problem: Some(error.to_string()) },
    };
    if tree.hash() == locked.tree {
        return LockComparison::default();
    }
    let mut files = Vec::new();
    for file in tree.files() {
        match locked.files.get(&file.path) {
            None => files.push((file.path.clone(), FileChange::Extra)),
            Some(digest) => {
                let is_same =
                    *digest == file.digest() && file.executable == locked.executable.contains(&file.path);
                files.extend((!is_same).then(|| (file.path.clone(), FileChange::Changed)));
            }
        }
    }
    let present: BTreeSet<&str> = tree.files().iter().map(|file| file.path.as_str()).collect();
    let missing = locked.files.keys().filter(|path| !present.contains(path.as_str()));
    files.extend(missing.map(|path| (path.clone(), FileChange::Missing)));
    files.sort();
    // The lock file was edited: its tree hash and file digests contradict each other.
    let problem =
        files.is_empty().then(|| "the tree hash in the lock file does not match its file digests".to_owned());
    LockComparison { files, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_listed() {
        let mut tree = HashedTree::default();
        tree.add("SKILL.md", false, b"x");
        tree.add("run.sh", true, b"y");
        tree.add("gone", false, b"z");
        let locked = LockEntry::default().with_tree(&tree);
        assert!(compare_with_lock(&locked, &Ok(tree)).is_unchanged());
        let mut now = HashedTree::default();
        now.add("SKILL.md", false, b"other");
        now.add("run.sh", false, b"y");
        now.add("new", false, b"");
        let found = compare_with_lock(&locked, &Ok(now));
        assert_eq!(found.to_string(), "changed SKILL.md, missing gone, added new, changed run.sh");
        let link = compare_with_lock(&locked, &Err(TreeHashError::NotRegular("a".into())));
        assert_eq!(link.to_string(), "symlink a");
        let forged = LockEntry { tree: "sha256-tree-v1:0".to_owned(), ..locked.clone() };
        let mut same = HashedTree::default();
        same.add("SKILL.md", false, b"x");
        same.add("run.sh", true, b"y");
        same.add("gone", false, b"z");
        assert!(compare_with_lock(&forged, &Ok(same)).problem.is_some());
    }
}
