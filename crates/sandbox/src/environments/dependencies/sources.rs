//! The files of a skill in which dependencies are searched.

use std::borrow::Cow;
use std::collections::BTreeMap;

use prowess::resources::SkillFiles;

/// The files of a skill: paths relative to its directory, and contents.
#[derive(Debug, Clone, Default)]
pub struct ScriptSources<'f>(BTreeMap<&'f str, &'f [u8]>);

impl<'f> From<&'f SkillFiles> for ScriptSources<'f> {
    fn from(files: &'f SkillFiles) -> Self {
        files.files().map(|(path, file)| (path, file.bytes.as_slice())).collect()
    }
}

impl<'f> FromIterator<(&'f str, &'f [u8])> for ScriptSources<'f> {
    fn from_iter<I: IntoIterator<Item = (&'f str, &'f [u8])>>(files: I) -> Self {
        Self(files.into_iter().collect())
    }
}

/// The maximum size of a file that is searched.
const FILE_MAX: usize = 2 * 1024 * 1024;

impl<'f> ScriptSources<'f> {
    pub(super) fn contains(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Returns a file as text, with replacement characters for bytes that are not UTF-8. Files that are too large for a
    /// script are not searched.
    pub(super) fn text(&self, path: &str) -> Option<Cow<'f, str>> {
        let bytes: &'f [u8] = self.0.get(path)?;
        (bytes.len() <= FILE_MAX).then(|| String::from_utf8_lossy(bytes))
    }

    pub(super) fn bytes(&self, path: &str) -> Option<&'f [u8]> {
        self.0.get(path).copied()
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &'f str> {
        self.0.keys().copied()
    }

    /// Returns the nearest file of this name, from the directory of a script upwards.
    pub(super) fn nearest(&self, script: &str, name: &str) -> Option<String> {
        ancestors(parent(script)).map(|dir| join(dir, name)).find(|path| self.contains(path))
    }

    /// Returns the directories that contain such files, directly or further below, the root first.
    pub(super) fn directories(&self, is_such: impl Fn(&str) -> bool) -> Vec<&'f str> {
        let paths = self.0.keys().filter(|path| is_such(path));
        let mut dirs: Vec<&str> = paths.flat_map(|path| ancestors(parent(path))).collect();
        dirs.sort_by_key(|dir| (dir.len(), *dir));
        dirs.dedup();
        dirs
    }
}

/// Returns the directory of a path; empty for the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// Returns a path in a directory.
pub(super) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

/// Returns a directory and those above it, up to the root.
fn ancestors(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |dir| (!dir.is_empty()).then(|| parent(dir)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_is_found() {
        let files: ScriptSources<'_> =
            ["a/b/x.py", "a/r.txt", "r.txt", "ab/y.py"].into_iter().map(|path| (path, &b""[..])).collect();
        assert_eq!(files.nearest("a/b/x.py", "r.txt").as_deref(), Some("a/r.txt"));
        assert_eq!(files.nearest("ab/y.py", "r.txt").as_deref(), Some("r.txt"));
        assert_eq!(files.nearest("ab/y.py", "none"), None);
        assert_eq!(files.directories(|_| true), ["", "a", "ab", "a/b"]);
        assert_eq!(files.directories(|path| path.starts_with("a/")), ["", "a", "a/b"]);
    }
}
