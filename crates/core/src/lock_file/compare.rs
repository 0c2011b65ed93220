//! What is there, beside what the lock says.

use std::collections::BTreeSet;
use std::fmt;

use prowess_format::hidden::brief;

use super::file::Locked;
use prowess_fs::{HashedTree, TreeError};

/// How a file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Other bytes, or another executable bit.
    Changed,
    /// Gone.
    Missing,
    /// Not known to the lock.
    Extra,
    /// A link where a file was.
    Link,
}

impl Change {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "modified",
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Link => "link",
        }
    }
}

/// The files that are not as the lock says, sorted by path; nothing where all are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// The path and how it differs.
    pub files: Vec<(String, Change)>,
    /// Why the folder could not be compared as a whole.
    pub problem: Option<String>,
}

impl Comparison {
    /// Whether everything is as the lock says.
    pub fn is_same(&self) -> bool {
        self.files.is_empty() && self.problem.is_none()
    }
}

/// As people and models read it: `changed SKILL.md, added x`, not more than a few of them.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 5;
        let word = |change: &Change| match change {
            Change::Changed => "changed",
            Change::Missing => "missing",
            Change::Extra => "added",
            Change::Link => "a link:",
        };
        let mut parts: Vec<String> = self
            .files
            .iter()
            .take(MOST)
            .map(|(path, change)| format!("{} {}", word(change), brief(path)))
            .collect();
        if self.files.len() > MOST {
            parts.push(format!("and {} more", self.files.len() - MOST));
        }
        parts.extend(self.problem.as_deref().map(brief));
        f.write_str(&parts.join(", "))
    }
}

/// Compares what was hashed with a lock.
pub fn compare(locked: &Locked, tree: &Result<HashedTree, TreeError>) -> Comparison {
    let tree = match tree {
        Ok(tree) => tree,
        Err(TreeError::NotRegular(path)) => {
            let files = vec![(path.to_string_lossy().into_owned(), Change::Link)];
            return Comparison { files, problem: None };
        }
        Err(error) => return Comparison { files: Vec::new(), problem: Some(error.to_string()) },
    };
    if tree.hash() == locked.tree {
        return Comparison::default();
    }
    let mut files = Vec::new();
    for file in tree.files() {
        match locked.files.get(&file.path) {
            None => files.push((file.path.clone(), Change::Extra)),
            Some(digest) => {
                let same =
                    *digest == file.digest() && file.executable == locked.executable.contains(&file.path);
                files.extend((!same).then(|| (file.path.clone(), Change::Changed)));
            }
        }
    }
    let there: BTreeSet<&str> = tree.files().iter().map(|file| file.path.as_str()).collect();
    let missing = locked.files.keys().filter(|path| !there.contains(path.as_str()));
    files.extend(missing.map(|path| (path.clone(), Change::Missing)));
    files.sort();
    // Somebody edited the lock itself: its parts no longer agree.
    let problem = files.is_empty().then(|| "the lock's tree hash is not that of its files".to_owned());
    Comparison { files, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named() {
        let mut tree = HashedTree::default();
        tree.add("SKILL.md", false, b"x");
        tree.add("run.sh", true, b"y");
        tree.add("gone", false, b"z");
        let locked = Locked::default().with_tree(&tree);
        assert!(compare(&locked, &Ok(tree)).is_same());
        let mut now = HashedTree::default();
        now.add("SKILL.md", false, b"other");
        now.add("run.sh", false, b"y");
        now.add("new", false, b"");
        let found = compare(&locked, &Ok(now));
        assert_eq!(found.to_string(), "changed SKILL.md, missing gone, added new, changed run.sh");
        let link = compare(&locked, &Err(TreeError::NotRegular("a".into())));
        assert_eq!(link.to_string(), "a link: a");
        let forged = Locked { tree: "sha256-tree-v1:0".to_owned(), ..locked.clone() };
        let mut same = HashedTree::default();
        same.add("SKILL.md", false, b"x");
        same.add("run.sh", true, b"y");
        same.add("gone", false, b"z");
        assert!(compare(&forged, &Ok(same)).problem.is_some());
    }
}
