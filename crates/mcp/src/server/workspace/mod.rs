//! The workspaces of connections: where scripts work, and the files that clients can read.
//!
//! | module | subject |
//! |---|---|
//! | `metered` | files in memory, within a limit for all clients together |
//! | `directory` | files below a directory of the user |
//!
//! A workspace ends with its connection. Over HTTP without sessions, a connection ends with its request, so its workspace
//! is retained for a while: bounded in number, bytes and time, and found only by its random id.

mod directory;
mod metered;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prowess::ErrorCode;
use prowess::format::hidden::escape_and_truncate;
use prowess_tools::{ConversationWorkspace, WorkspaceError, WorkspaceFiles};

use crate::workspace_uri::WorkspaceUri;
use directory::SharedDirectory;
use metered::MeteredWorkspace;

/// The maximum number of retained workspaces.
const RETAINED_MAX: usize = 32;

/// The maximum sizes of workspaces in memory.
const LIMITS: MemoryLimits = MemoryLimits { all: 1024 * 1024 * 1024, retained: 256 * 1024 * 1024 };

/// How long a workspace is retained.
const RETAINED_TIME: Duration = Duration::from_secs(10 * 60);

/// The maximum size of a file that clients can read.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// All workspaces of a server.
#[derive(Debug)]
pub(in crate::server) struct WorkspaceStore {
    /// The directory in which all scripts work, if the user named one, with the id for its URIs.
    directory: Option<(Arc<str>, Arc<SharedDirectory>)>,
    limits: MemoryLimits,
    /// The size of all workspaces in memory.
    used_bytes: AtomicU64,
    retained: Mutex<VecDeque<RetainedWorkspace>>,
}

/// The maximum sizes of workspaces in memory, in bytes.
#[derive(Debug, Clone, Copy)]
struct MemoryLimits {
    /// Of all workspaces together.
    all: u64,
    /// Of the retained ones together.
    retained: u64,
}

#[derive(Debug)]
struct RetainedWorkspace {
    workspace: ConnectionWorkspace,
    since: Instant,
}

impl WorkspaceStore {
    pub(in crate::server) fn new(directory: Option<&Path>) -> Arc<Self> {
        Self::with_limits(directory, LIMITS)
    }

    fn with_limits(directory: Option<&Path>, limits: MemoryLimits) -> Arc<Self> {
        let directory = directory.map(|dir| (random_id(), Arc::new(SharedDirectory::new(dir))));
        Arc::new(Self { directory, limits, used_bytes: AtomicU64::new(0), retained: Mutex::default() })
    }

    /// Creates the workspace of a connection. Connections share the directory of the user, if there is one.
    pub(in crate::server) fn open(self: &Arc<Self>) -> ConnectionWorkspace {
        match &self.directory {
            Some((id, dir)) => {
                ConnectionWorkspace { id: Arc::clone(id), files: ServedFiles::Directory(Arc::clone(dir)) }
            }
            None => {
                let files = Arc::new(MeteredWorkspace::new(Arc::clone(self)));
                ConnectionWorkspace { id: random_id(), files: ServedFiles::Memory(files) }
            }
        }
    }

    /// Retains the workspace of a connection that ends with its request.
    pub(in crate::server) fn retain(self: &Arc<Self>, workspace: &ConnectionWorkspace) {
        let ServedFiles::Memory(_) = &workspace.files else { return };
        let is_first = self.retain_since(workspace, Instant::now());
        if is_first && tokio::runtime::Handle::try_current().is_ok() {
            let store = Arc::downgrade(self);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(RETAINED_TIME / 10).await;
                    let Some(store) = store.upgrade() else { return };
                    if store.lock_unexpired(Instant::now()).is_empty() {
                        return;
                    }
                }
            });
        }
    }

    /// Returns `true` if no other workspace is retained.
    fn retain_since(&self, workspace: &ConnectionWorkspace, now: Instant) -> bool {
        let mut retained = self.lock_unexpired(now);
        let is_first = retained.is_empty();
        retained.retain(|other| other.workspace.id != workspace.id);
        retained.push_back(RetainedWorkspace { workspace: workspace.clone(), since: now });
        while retained.len() > RETAINED_MAX
            || retained.iter().map(|other| other.workspace.memory_bytes()).sum::<u64>() > self.limits.retained
        {
            retained.pop_front();
        }
        is_first
    }

    /// Returns the retained workspace with this id.
    pub(in crate::server) fn find_retained(&self, id: &str) -> Option<ConnectionWorkspace> {
        self.find_at(id, Instant::now())
    }

    fn find_at(&self, id: &str, now: Instant) -> Option<ConnectionWorkspace> {
        let retained = self.lock_unexpired(now);
        retained.iter().find(|other| *other.workspace.id == *id).map(|other| other.workspace.clone())
    }

    /// Ends the oldest retained workspace; returns `false` if there is none.
    fn evict_oldest(&self) -> bool {
        let oldest = self.lock_unexpired(Instant::now()).pop_front();
        oldest.is_some()
    }

    fn lock_unexpired(&self, now: Instant) -> MutexGuard<'_, VecDeque<RetainedWorkspace>> {
        let mut retained = self.retained.lock().unwrap_or_else(PoisonError::into_inner);
        while retained.front().is_some_and(|oldest| now.duration_since(oldest.since) >= RETAINED_TIME) {
            retained.pop_front();
        }
        retained
    }
}

/// The workspace of a connection.
#[derive(Debug, Clone)]
pub(in crate::server) struct ConnectionWorkspace {
    id: Arc<str>,
    files: ServedFiles,
}

#[derive(Debug, Clone)]
enum ServedFiles {
    Memory(Arc<MeteredWorkspace>),
    Directory(Arc<SharedDirectory>),
}

/// A file of a workspace that clients can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::server) struct ServedFile {
    pub(in crate::server) path: String,
    pub(in crate::server) size: u64,
    pub(in crate::server) media_type: Option<String>,
}

impl ConnectionWorkspace {
    pub(in crate::server) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the workspace for calls of tools.
    pub(in crate::server) fn for_calls(&self) -> ConversationWorkspace {
        match &self.files {
            ServedFiles::Memory(files) => {
                ConversationWorkspace::Files(Arc::clone(files) as Arc<dyn WorkspaceFiles>)
            }
            ServedFiles::Directory(dir) => ConversationWorkspace::Directory(dir.path().to_owned()),
        }
    }

    /// Returns `true` if scripts work in a directory of the user.
    pub(in crate::server) fn is_directory(&self) -> bool {
        matches!(self.files, ServedFiles::Directory(_))
    }

    /// Returns the URI of a file, or `None` if clients cannot read it.
    pub(in crate::server) fn uri(&self, path: &str) -> Option<String> {
        let is_served = match &self.files {
            ServedFiles::Memory(_) => true,
            ServedFiles::Directory(_) => directory::is_served(path),
        };
        is_served.then(|| WorkspaceUri { id: self.id.to_string(), path: path.to_owned() }.to_string())
    }

    /// Returns the files, sorted by path.
    pub(in crate::server) fn list(&self) -> Result<Vec<ServedFile>, WorkspaceError> {
        match &self.files {
            ServedFiles::Memory(files) => {
                let served = files.list()?.into_iter().map(|file| ServedFile {
                    path: file.path,
                    size: file.size,
                    media_type: Some(file.media_type),
                });
                Ok(served.collect())
            }
            ServedFiles::Directory(dir) => dir.list(),
        }
    }

    /// Returns the content of a file.
    pub(in crate::server) fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        let bytes = match &self.files {
            ServedFiles::Memory(files) => files.read(path)?,
            ServedFiles::Directory(dir) => dir.read(path)?,
        };
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(too_large(path));
        }
        Ok(bytes)
    }

    fn memory_bytes(&self) -> u64 {
        match &self.files {
            ServedFiles::Memory(files) => files.bytes(),
            ServedFiles::Directory(_) => 0,
        }
    }
}

fn too_large(path: &str) -> WorkspaceError {
    let message = format!(
        "{} has more than {FILE_BYTES_MAX} bytes, which is the limit for resources",
        escape_and_truncate(path)
    );
    WorkspaceError::Refused { code: ErrorCode::TooLarge, message }
}

fn random_id() -> Arc<str> {
    uuid::Uuid::new_v4().simple().to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess_tools::WorkspaceChanges;

    const SMALL: MemoryLimits = MemoryLimits { all: 1_000, retained: 256 };

    fn write(workspace: &ConnectionWorkspace, bytes: usize) -> Result<(), WorkspaceError> {
        let ServedFiles::Memory(files) = &workspace.files else { unreachable!() };
        files.apply(WorkspaceChanges::write("a", &vec![0; bytes], ""))
    }

    #[test]
    fn retained_workspaces_are_bounded_in_number_bytes_and_time() {
        let (store, now) = (WorkspaceStore::with_limits(None, SMALL), Instant::now());
        let all: Vec<_> = (0..=RETAINED_MAX).map(|_| store.open()).collect();
        for workspace in &all {
            store.retain_since(workspace, now);
        }
        let is_found = |workspace: &ConnectionWorkspace, at| store.find_at(workspace.id(), at).is_some();
        assert!(!is_found(&all[0], now) && all[1..].iter().all(|workspace| is_found(workspace, now)));
        for workspace in &all[1..6] {
            write(workspace, 60).unwrap();
        }
        store.retain_since(&all[5], now);
        assert!(!is_found(&all[1], now) && is_found(&all[2], now) && is_found(&all[5], now));
        assert!(is_found(&all[5], now + RETAINED_TIME - Duration::from_secs(1)));
        assert!(!is_found(&all[5], now + RETAINED_TIME));
        assert!(store.find_at("", now).is_none());
    }

    #[test]
    fn ids_are_random() {
        let store = WorkspaceStore::new(None);
        let (a, b) = (store.open(), store.open());
        assert!(a.id() != b.id() && a.id().len() == 32);
        let dir = WorkspaceStore::new(Some(Path::new("/nonexistent")));
        assert_eq!(dir.open().id(), dir.open().id());
    }

    #[test]
    fn all_clients_together_have_a_limit() {
        let store = WorkspaceStore::with_limits(None, SMALL);
        let open = || {
            let workspace = store.open();
            let written = write(&workspace, 60);
            (workspace, written)
        };
        let retained = open().0;
        store.retain(&retained);
        let id = retained.id().to_owned();
        drop(retained);
        let mut others = Vec::new();
        let error = loop {
            match open() {
                (workspace, Ok(())) => others.push(workspace),
                (_, Err(error)) => break error,
            }
        };
        insta::assert_snapshot!(
            error,
            @"the files of all clients are limited to 1000 bytes; try again after other clients have disconnected"
        );
        assert!(store.find_retained(&id).is_none(), "a retained workspace ends before a call fails");
        let count = others.len();
        others.pop();
        assert!(open().1.is_ok() && count == 16);
    }
}
