//! The names of the skills in the workspace. Every change concerns a single skill.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use prowess_format::fence::Extent;
use prowess_format::{HeadOutcome, Rules, parse_head};
use prowess_fs::read_bounded;

/// The maximum size of a `SKILL.md`, in bytes.
pub(crate) const SKILL_MD_MAX: u64 = 16 * 1024 * 1024;

/// A skill of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspaceSkill {
    /// Its `SKILL.md`.
    pub(crate) path: PathBuf,
    /// Its name.
    pub(crate) name: String,
}

/// The skills of the workspace, by name and by path.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceIndex {
    paths: BTreeMap<String, BTreeSet<PathBuf>>,
    names: HashMap<PathBuf, String>,
}

impl WorkspaceIndex {
    /// Adds a skill, or changes its name.
    pub(crate) fn insert(&mut self, skill: WorkspaceSkill) {
        if self.names.get(&skill.path).is_some_and(|name| *name == skill.name) {
            return;
        }
        self.remove(&skill.path);
        self.paths.entry(skill.name.clone()).or_default().insert(skill.path.clone());
        self.names.insert(skill.path, skill.name);
    }

    /// Removes a skill.
    pub(crate) fn remove(&mut self, path: &Path) {
        let Some(name) = self.names.remove(path) else { return };
        if let Some(paths) = self.paths.get_mut(&name) {
            paths.remove(path);
            if paths.is_empty() {
                self.paths.remove(&name);
            }
        }
    }

    /// Returns the number of skills.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the first skill with this name, by path.
    pub(crate) fn find(&self, name: &str) -> Option<&Path> {
        self.paths.get(name)?.first().map(PathBuf::as_path)
    }

    /// Returns the names that begin with a prefix, at most `max` of them.
    pub(crate) fn with_prefix<'i>(&'i self, prefix: &'i str, max: usize) -> impl Iterator<Item = &'i str> {
        let names =
            self.paths.range::<str, _>((std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded));
        names.map(|(name, _)| name.as_str()).take_while(move |name| name.starts_with(prefix)).take(max)
    }

    /// Reads the description of a skill.
    pub(crate) fn describe(&self, path: &Path) -> Option<String> {
        let source = read_bounded(path, SKILL_MD_MAX)?;
        match parse_head(&source, Extent::Whole, None, &Rules::standard()) {
            HeadOutcome::Done(parsed) => Some(parsed.document?.manifest.description().to_owned()),
            HeadOutcome::NeedMore => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(path: &str, name: &str) -> WorkspaceSkill {
        WorkspaceSkill { path: path.into(), name: name.to_owned() }
    }

    #[test]
    fn skills_are_found_by_name_after_each_change() {
        let mut index = WorkspaceIndex::default();
        for (path, name) in [("/b", "pdf"), ("/a", "pdf"), ("/c", "pdf-tools"), ("/d", "csv")] {
            index.insert(skill(path, name));
        }
        assert_eq!(index.find("pdf"), Some(Path::new("/a")));
        assert_eq!(index.with_prefix("pd", 9).collect::<Vec<_>>(), ["pdf", "pdf-tools"]);
        index.insert(skill("/a", "xlsx"));
        index.remove(Path::new("/c"));
        index.remove(Path::new("/none"));
        assert_eq!((index.find("pdf"), index.len()), (Some(Path::new("/b")), 3));
        assert_eq!(index.with_prefix("", 2).collect::<Vec<_>>(), ["csv", "pdf"]);
    }
}
