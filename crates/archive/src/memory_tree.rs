//! A tree that is wholly in memory.

use prowess_format::ErrorCode;

use crate::{Entry, EntryKind, InnerPath, Tree, TreeFailure};

/// One file, where it belongs and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// Its path from the top.
    pub path: InnerPath,
    /// Whether it may be executed.
    pub executable: bool,
    /// All its bytes.
    pub bytes: Vec<u8>,
}

/// Files in memory, in the order of their paths.
///
/// ```
/// use prowess_archive::{InnerPath, MemoryFile, MemoryTree, Tree};
///
/// let path = InnerPath::parse(b"pdf/SKILL.md").unwrap();
/// let tree = MemoryTree::new([MemoryFile { path, executable: false, bytes: b"x".to_vec() }]);
/// assert_eq!(tree.read(0).unwrap(), b"x");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryTree {
    entries: Vec<Entry>,
    files: Vec<MemoryFile>,
}

impl MemoryTree {
    /// A tree of these files. Of two with one path, the first counts.
    pub fn new(files: impl IntoIterator<Item = MemoryFile>) -> Self {
        let mut files: Vec<MemoryFile> = files.into_iter().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|later, first| later.path == first.path);
        let entry = |file: &MemoryFile| Entry {
            path: file.path.as_str().as_bytes().into(),
            kind: EntryKind::File { executable: file.executable, bytes: file.bytes.len() as u64 },
        };
        Self { entries: files.iter().map(entry).collect(), files }
    }

    /// The files, sorted by path.
    pub fn files(&self) -> &[MemoryFile] {
        &self.files
    }
}

impl Tree for MemoryTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, at: usize) -> Result<Vec<u8>, TreeFailure> {
        self.files.get(at).map(|file| file.bytes.clone()).ok_or_else(|| TreeFailure {
            code: ErrorCode::InternalError,
            message: "there is no such file in memory".into(),
        })
    }
}
