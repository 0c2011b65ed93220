//! A workspace in memory, for conversations that are not stored.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

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
    files: Mutex<BTreeMap<String, (WorkspaceFile, Vec<u8>)>>,
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
        Ok(files.values().map(|(file, _)| file.clone()).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let found = files.get(path).map(|(_, content)| content.clone());
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
            let file = WorkspaceFile {
                path: write.path.clone(),
                size: write.content.len() as u64,
                media_type: guess_mime_type(&write.path, &write.content).to_owned(),
                digest: prowess::digest(&write.content),
            };
            next.insert(write.path, (file, write.content));
        }
        let bytes: u64 = next.values().map(|(file, _)| file.size).sum();
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
    }
}
