//! The files of a conversation, which scripts read and change.

mod memory;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use prowess::ErrorCode;

pub use memory::MemoryWorkspace;

/// Where the scripts of a conversation work.
#[derive(Clone)]
pub enum ConversationWorkspace {
    /// In a copy of these files, to which changes are applied.
    Files(Arc<dyn WorkspaceFiles>),
    /// In a directory of the user.
    Directory(PathBuf),
}

/// The files of a conversation. Implementations keep them where the conversation is kept, and check names and limits.
///
/// All methods may block: they are called on the thread of a tool call, never on a thread of an async runtime.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Mutex;
/// use prowess_tools::{WorkspaceChanges, WorkspaceError, WorkspaceFile, WorkspaceFiles};
///
/// /// Keeps the files in memory, without limits.
/// #[derive(Default)]
/// struct InMemory(Mutex<BTreeMap<String, Vec<u8>>>);
///
/// impl WorkspaceFiles for InMemory {
///     fn list(&self) -> Result<Vec<WorkspaceFile>, WorkspaceError> {
///         let files = self.0.lock().unwrap();
///         let file = |(path, bytes): (&String, &Vec<u8>)| WorkspaceFile {
///             path: path.clone(),
///             size: bytes.len() as u64,
///             media_type: "application/octet-stream".to_owned(),
///             digest: prowess::digest(bytes),
///         };
///         Ok(files.iter().map(file).collect())
///     }
///
///     fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
///         self.0.lock().unwrap().get(path).cloned().ok_or_else(|| WorkspaceError::NotFound(path.to_owned()))
///     }
///
///     fn apply(&self, changes: WorkspaceChanges) -> Result<(), WorkspaceError> {
///         let mut files = self.0.lock().unwrap();
///         changes.removed.iter().for_each(|path| drop(files.remove(path)));
///         files.extend(changes.written.into_iter().map(|file| (file.path, file.content)));
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), WorkspaceError> {
/// let files = InMemory::default();
/// files.apply(WorkspaceChanges::write("out/a.txt", b"a", "text/plain"))?;
/// assert_eq!(files.list()?[0].path, "out/a.txt");
/// # Ok(())
/// # }
/// ```
pub trait WorkspaceFiles: Send + Sync {
    /// Returns the files, sorted by path.
    fn list(&self) -> Result<Vec<WorkspaceFile>, WorkspaceError>;

    /// Returns the content of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError>;

    /// Replaces, adds and removes files in one step: all changes or none. A removed file need not exist.
    fn apply(&self, changes: WorkspaceChanges) -> Result<(), WorkspaceError>;
}

/// A file of a workspace, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFile {
    /// The path, relative to the workspace and with `/`.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The media type, as `text/csv`.
    pub media_type: String,
    /// The digest of the content: `sha256:` and hexadecimal digits.
    pub digest: String,
}

/// Changes of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkspaceChanges {
    /// The files to add or replace.
    pub written: Vec<WorkspaceWrite>,
    /// The paths of the files to remove.
    pub removed: Vec<String>,
}

/// A file to add or replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceWrite {
    /// The path, relative to the workspace and with `/`.
    pub path: String,
    /// The whole content.
    pub content: Vec<u8>,
    /// The media type. The workspace detects it if this is empty or malformed.
    pub media_type: String,
}

impl WorkspaceChanges {
    /// Returns changes that write one file.
    pub fn write(path: &str, content: &[u8], media_type: &str) -> Self {
        let (path, media_type) = (path.to_owned(), media_type.to_owned());
        Self {
            written: vec![WorkspaceWrite { path, content: content.to_vec(), media_type }],
            removed: vec![],
        }
    }
}

/// Why a workspace operation failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The workspace has no file with this path.
    #[error("the workspace has no file {0}")]
    NotFound(String),
    /// A name or a limit does not allow the change.
    #[error("{message}")]
    Refused {
        /// The error code.
        code: ErrorCode,
        /// The reason, for the model and for people.
        message: String,
    },
    /// The workspace cannot be read or written.
    #[error("cannot access the workspace")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

impl WorkspaceError {
    /// Returns the stable error code.
    ///
    /// ```
    /// use prowess::ErrorCode;
    /// use prowess_tools::WorkspaceError;
    ///
    /// assert_eq!(WorkspaceError::NotFound("a.csv".to_owned()).code(), ErrorCode::NotFound);
    /// ```
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::Refused { code, .. } => *code,
            Self::Unavailable(_) => ErrorCode::Unavailable,
        }
    }
}
