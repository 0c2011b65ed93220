//! The files of a chat for scripts, which run on threads of their own.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use prowess_config::ChatFileLimits;
use prowess_tools::{WorkspaceChanges, WorkspaceError, WorkspaceFile, WorkspaceFiles};
use tokio::runtime::Handle;

use super::{ChatFile, FileChanges, FileOrigin, NewFile, Store, StoreError};

/// The files of a chat as [`WorkspaceFiles`]. Its methods block, and must not be called on a thread of the async runtime.
#[derive(Clone)]
pub struct ChatWorkspace {
    store: Arc<dyn Store>,
    chat: String,
    limits: ChatFileLimits,
    runtime: Handle,
}

impl ChatWorkspace {
    /// Returns the files of a chat. Must be called in the async runtime of the store.
    pub fn open(store: &Arc<dyn Store>, chat: &str, limits: ChatFileLimits) -> Arc<dyn WorkspaceFiles> {
        Arc::new(Self { store: store.clone(), chat: chat.to_owned(), limits, runtime: Handle::current() })
    }

    fn wait<T>(&self, call: impl Future<Output = Result<T, StoreError>>) -> Result<T, WorkspaceError> {
        self.runtime.block_on(call).map_err(to_workspace_error)
    }
}

impl fmt::Debug for ChatWorkspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatWorkspace").field("chat", &self.chat).finish_non_exhaustive()
    }
}

impl WorkspaceFiles for ChatWorkspace {
    fn list(&self) -> Result<Vec<WorkspaceFile>, WorkspaceError> {
        let entry = |ChatFile { path, size, media_type, digest, .. }: ChatFile| WorkspaceFile {
            path,
            size,
            media_type,
            digest,
        };
        Ok(self.wait(self.store.files(&self.chat))?.into_iter().map(entry).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        self.wait(self.store.read_file(&self.chat, path)).map(|(_, content)| content)
    }

    fn apply(&self, changes: WorkspaceChanges) -> Result<(), WorkspaceError> {
        let written = changes.written.into_iter().map(|file| {
            let new = NewFile::new(&file.path, file.content, FileOrigin::Script)?;
            Ok(new.with_media_type(&file.media_type))
        });
        let written = written.collect::<Result<_, _>>().map_err(to_workspace_error)?;
        let changes = FileChanges { written, removed: changes.removed, strict: false };
        self.wait(self.store.change_files(&self.chat, changes, self.limits)).map(drop)
    }
}

fn to_workspace_error(error: StoreError) -> WorkspaceError {
    match error {
        StoreError::FileNotFound(path) => WorkspaceError::NotFound(path),
        error if error.is_retryable() => WorkspaceError::Unavailable(Box::new(error)),
        // The model and users of a server must not learn where chats are stored.
        error => WorkspaceError::Refused { code: error.code(), message: error.public_message() },
    }
}
