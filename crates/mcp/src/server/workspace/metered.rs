//! Files in memory, within a limit for all clients together.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use prowess::ErrorCode;
use prowess_tools::{MemoryWorkspace, WorkspaceChanges, WorkspaceError, WorkspaceFile, WorkspaceFiles};

use super::WorkspaceStore;

/// A workspace in memory whose size counts towards the limit of its store.
#[derive(Debug)]
pub(super) struct MeteredWorkspace {
    files: MemoryWorkspace,
    store: Arc<WorkspaceStore>,
    /// The size of the files.
    bytes: Mutex<u64>,
}

impl MeteredWorkspace {
    pub(super) fn new(store: Arc<WorkspaceStore>) -> Self {
        Self { files: MemoryWorkspace::default(), store, bytes: Mutex::default() }
    }

    /// Returns the size of the files.
    pub(super) fn bytes(&self) -> u64 {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts bytes that are about to be written. Retained workspaces end first.
    fn reserve(&self, bytes: u64) -> Result<(), WorkspaceError> {
        let limit = self.store.limits.all;
        let add = |used: u64| used.checked_add(bytes).filter(|total| *total <= limit);
        while self.store.used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_err() {
            if !self.store.evict_oldest() {
                let message = format!(
                    "the files of all clients are limited to {limit} bytes; try again after other \
                     clients have disconnected"
                );
                return Err(WorkspaceError::Refused { code: ErrorCode::TooLarge, message });
            }
        }
        Ok(())
    }

    fn release(&self, bytes: u64) {
        self.store.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl WorkspaceFiles for MeteredWorkspace {
    fn list(&self) -> Result<Vec<WorkspaceFile>, WorkspaceError> {
        self.files.list()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        self.files.read(path)
    }

    fn apply(&self, changes: WorkspaceChanges) -> Result<(), WorkspaceError> {
        let added: u64 = changes.written.iter().map(|file| file.content.len() as u64).sum();
        // Reserved before it is locked, because eviction locks other workspaces.
        self.reserve(added)?;
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let applied = self.files.apply(changes);
        let size = match self.files.list() {
            Ok(files) => files.iter().map(|file| file.size).sum(),
            Err(_) => *bytes,
        };
        // Replaced and removed files no longer count.
        self.release((*bytes + added).saturating_sub(size));
        *bytes = size;
        applied
    }
}

impl Drop for MeteredWorkspace {
    fn drop(&mut self) {
        self.release(self.bytes());
    }
}
