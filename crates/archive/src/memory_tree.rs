//! A source tree in memory.

use prowess_format::ErrorCode;

use crate::{InnerPath, SourceEntry, SourceEntryKind, SourceReadError, SourceTree};

/// A file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// The path relative to the root of the tree.
    pub path: InnerPath,
    /// Whether it is executable.
    pub executable: bool,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Files in memory, sorted by path.
///
/// ```
/// use prowess_archive::{InnerPath, MemoryFile, MemoryTree, SourceTree};
///
/// let path = InnerPath::parse(b"pdf/SKILL.md").unwrap();
/// let tree = MemoryTree::new([MemoryFile { path, executable: false, bytes: b"x".to_vec() }]);
/// assert_eq!(tree.read_entry(0).unwrap(), b"x");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryTree {
    entries: Vec<SourceEntry>,
    files: Vec<MemoryFile>,
}

impl MemoryTree {
    /// Creates a tree of these files. If two have the same path, the first one is used.
    pub fn new(files: impl IntoIterator<Item = MemoryFile>) -> Self {
        let mut files: Vec<MemoryFile> = files.into_iter().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|later, first| later.path == first.path);
        let entry = |file: &MemoryFile| SourceEntry {
            path: file.path.as_str().as_bytes().into(),
            kind: SourceEntryKind::File { executable: file.executable, bytes: file.bytes.len() as u64 },
        };
        Self { entries: files.iter().map(entry).collect(), files }
    }

    /// Returns the files, sorted by path.
    pub fn files(&self) -> &[MemoryFile] {
        &self.files
    }
}

impl SourceTree for MemoryTree {
    fn entries(&self) -> &[SourceEntry] {
        &self.entries
    }

    fn read_entry(&self, index: usize) -> Result<Vec<u8>, SourceReadError> {
        self.files.get(index).map(|file| file.bytes.clone()).ok_or_else(|| SourceReadError {
            code: ErrorCode::InternalError,
            message: "no such file in memory".into(),
        })
    }
}
