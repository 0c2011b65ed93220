//! A workspace in memory, for conversations that are not stored.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prowess::ErrorCode;
use prowess::resources::guess_mime_type;
use prowess_archive::InnerPath;

use super::{WorkspaceChanges, WorkspaceError, WorkspaceFile, WorkspaceFiles};

/// The files of a conversation that ends with its connection.
///
/// ```
/// use prowess_tools::{MemoryWorkspace, WorkspaceChanges, WorkspaceFiles};
///
/// let files = MemoryWorkspace::default();
/// files.apply(WorkspaceChanges::write("a.txt", b"a", ""))?;
/// assert_eq!(files.list()?[0].media_type, "text/plain");
/// assert!(files.apply(WorkspaceChanges::write("../a.txt", b"a", "")).is_err());
/// # Ok::<(), prowess_tools::WorkspaceError>(())
/// ```
pub struct MemoryWorkspace {
    bytes_max: u64,
    files_max: usize,
    files: Mutex<BTreeMap<String, StoredFile>>,
}

/// A file with its content, which is cheap to clone.
#[derive(Clone)]
struct StoredFile {
    entry: WorkspaceFile,
    content: Arc<Vec<u8>>,
}

impl Default for MemoryWorkspace {
    fn default() -> Self {
        Self { bytes_max: 64 * 1024 * 1024, files_max: 500, files: Mutex::default() }
    }
}

impl fmt::Debug for MemoryWorkspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWorkspace").field("bytes_max", &self.bytes_max).finish_non_exhaustive()
    }
}

impl WorkspaceFiles for MemoryWorkspace {
    fn list(&self) -> Result<Vec<WorkspaceFile>, WorkspaceError> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(files.values().map(|file| file.entry.clone()).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let found = files.get(path).map(|file| file.content.to_vec());
        found.ok_or_else(|| {
            WorkspaceError::NotFound(prowess::format::hidden::escape_for_display(path).into_owned())
        })
    }

    fn apply(&self, changes: WorkspaceChanges) -> Result<(), WorkspaceError> {
        let refused = |code, message: String| Err(WorkspaceError::Refused { code, message });
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = files.clone();
        changes.removed.iter().for_each(|path| drop(next.remove(path)));
        for write in changes.written {
            if let Err(reason) = InnerPath::parse(write.path.as_bytes()) {
                let path = prowess::format::hidden::escape_for_display(&write.path).into_owned();
                return refused(
                    ErrorCode::InvalidParam,
                    format!("cannot use {path} as the name of a file: {reason}"),
                );
            }
            let entry = WorkspaceFile {
                path: write.path.clone(),
                size: write.content.len() as u64,
                media_type: guess_mime_type(&write.path, &write.content).to_owned(),
                digest: prowess::digest(&write.content),
            };
            next.insert(write.path, StoredFile { entry, content: Arc::new(write.content) });
        }
        if let Some(path) = find_file_and_directory(&next) {
            let path = prowess::format::hidden::escape_for_display(path);
            return refused(ErrorCode::Conflict, format!("{path} cannot be both a file and a directory"));
        }
        let bytes: u64 = next.values().map(|file| file.entry.size).sum();
        if bytes > self.bytes_max || next.len() > self.files_max {
            let message = format!(
                "the workspace of the conversation is limited to {} bytes and {} files",
                self.bytes_max, self.files_max
            );
            return refused(ErrorCode::TooLarge, message);
        }
        *files = next;
        Ok(())
    }
}

/// Returns the path of a file that is also the directory of another file.
fn find_file_and_directory<T>(files: &BTreeMap<String, T>) -> Option<&str> {
    let parents = |path: &'_ String| path.match_indices('/').map(|(end, _)| end).collect::<Vec<_>>();
    let is_file = |parent: &&str| files.contains_key(*parent);
    files.keys().find_map(|path| parents(path).into_iter().filter_map(|end| path.get(..end)).find(is_file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_names_are_checked_before_any_change() {
        let files = MemoryWorkspace { bytes_max: 5, files_max: 2, ..MemoryWorkspace::default() };
        files.apply(WorkspaceChanges::write("a", b"123", "")).unwrap();
        let code = |changes| files.apply(changes).unwrap_err().code();
        assert_eq!(code(WorkspaceChanges::write("b", b"123", "")), ErrorCode::TooLarge);
        assert_eq!(code(WorkspaceChanges::write("a\u{202e}b", b"", "")), ErrorCode::InvalidParam);
        let mut changes = WorkspaceChanges::write("b", b"12345", "");
        changes.removed.push("a".to_owned());
        files.apply(changes).unwrap();
        assert_eq!(files.list().unwrap().len(), 1);
        assert_eq!(files.read("b").unwrap(), b"12345");
        assert_eq!(files.read("a").unwrap_err().code(), ErrorCode::NotFound);
        // Scripts could not work in such a workspace any more.
        let mut changes = WorkspaceChanges::write("b/c", b"", "");
        assert_eq!(code(changes.clone()), ErrorCode::Conflict);
        changes.removed.push("b".to_owned());
        files.apply(changes).unwrap();
    }
}
