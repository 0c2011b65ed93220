//! The files of a plugin in a source. Symlinks are never followed, so nothing outside the plugin is read.

use std::collections::BTreeSet;

use prowess_archive::{SourceEntryKind, SourceReadError, SourceTree};

use super::path::join;

/// What a path in a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    /// A regular file, with its index.
    File(usize),
    /// A directory with files.
    Dir,
    /// A symlink or submodule, or a path that leads through one.
    Link,
    /// A FIFO, a socket or a device, or a path below a file.
    Other,
    /// Nothing, or an empty directory.
    Missing,
}

/// A directory of a source.
#[derive(Clone, Copy)]
pub(super) struct TreeView<'a> {
    tree: &'a dyn SourceTree,
    root: &'a str,
}

impl<'a> TreeView<'a> {
    pub(super) fn new(tree: &'a dyn SourceTree, root: &'a str) -> Self {
        Self { tree, root }
    }

    /// Returns a path relative to this directory as a path in the source.
    pub(super) fn full_path(&self, inner: &str) -> String {
        join(self.root, inner)
    }

    /// Returns what a path relative to this directory is. An empty path is the directory itself.
    pub(super) fn kind(&self, inner: &str) -> PathKind {
        let full = if inner.is_empty() { self.root.to_owned() } else { self.full_path(inner) };
        let ends = full.match_indices('/').map(|(end, _)| end).chain([full.len()]);
        for end in ends.filter(|end| *end > 0) {
            let Some(index) = self.find(&full[..end]) else { continue };
            let is_last = end == full.len();
            return match self.tree.entries().get(index).map(|entry| entry.kind) {
                Some(SourceEntryKind::File { .. }) if is_last => PathKind::File(index),
                Some(SourceEntryKind::Link | SourceEntryKind::Submodule) => PathKind::Link,
                Some(SourceEntryKind::File { .. } | SourceEntryKind::Special) => PathKind::Other,
                None => PathKind::Missing,
            };
        }
        match full.is_empty() || self.first_below(&full).is_some() {
            true => PathKind::Dir,
            false => PathKind::Missing,
        }
    }

    /// Reads a file by its index.
    pub(super) fn read(&self, index: usize) -> Result<Vec<u8>, SourceReadError> {
        self.tree.read_entry(index)
    }

    /// Returns the names in a directory, sorted. Names that are not Unicode are left out.
    pub(super) fn children(&self, inner: &str) -> Vec<String> {
        let full = if inner.is_empty() { self.root.to_owned() } else { self.full_path(inner) };
        let prefix = if full.is_empty() { String::new() } else { format!("{full}/") };
        let entries = self.tree.entries();
        let mut names = BTreeSet::new();
        let mut next = self.first_below(&full);
        while let Some((index, rest)) =
            next.and_then(|index| Some((index, entries.get(index)?.path.strip_prefix(prefix.as_bytes())?)))
        {
            let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
            if let Ok(name) = std::str::from_utf8(name) {
                names.insert(name.to_owned());
            }
            // The files of a subdirectory are adjacent, so they are skipped at once.
            let subdir = [prefix.as_bytes(), name, b"/"].concat();
            let below = entries.get(index..).unwrap_or_default();
            let skipped = below.partition_point(|entry| entry.path.starts_with(&subdir));
            next = Some(index + skipped.max(1));
        }
        names.into_iter().collect()
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.tree.entries().binary_search_by(|entry| entry.path.as_ref().cmp(path.as_bytes())).ok()
    }

    /// Returns the index of the first file below a directory of the source.
    fn first_below(&self, dir: &str) -> Option<usize> {
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let entries = self.tree.entries();
        let index = entries.partition_point(|entry| entry.path.as_ref() < prefix.as_bytes());
        entries.get(index).filter(|entry| entry.path.starts_with(prefix.as_bytes())).map(|_| index)
    }
}
