//! The files of a commit. Trees are read when listing, blobs on demand.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind as Mode;
use gix_object::{CommitRefIter, Find as _, Kind, TagRefIter, TreeRefIter};
use gix_odb::store::init::{Options, Slots};
use gix_odb::{HandleArc, Header as _, Store};
use prowess::ErrorCode;

use super::error::GitError;
use crate::Task;
use prowess_archive::limits::{ENTRIES_MAX, FILE_MAX};
use prowess_archive::{InnerPath, SourceEntry, SourceEntryKind, SourceReadError, SourceTree};

/// The maximum allocation for one step of reading an object. Delta bases may be larger than the file.
const STEP_MAX: usize = 8 * FILE_MAX as usize;

/// The maximum length of a path; no supported system allows longer ones.
const PATH_MAX: usize = 4_096;

/// The maximum length of a chain of tags.
const TAGS_MAX: usize = 8;

/// The files of a commit, or of a directory in it. Paths are relative to the root of the repository.
pub struct GitTree {
    objects: ObjectDatabase,
    entries: Vec<SourceEntry>,
    ids: Vec<ObjectId>,
}

/// The object database of a repository, for use by several threads.
pub(super) struct ObjectDatabase {
    store: Arc<Store>,
    format: gix_hash::Kind,
    /// Whether the server omitted blobs that are too large.
    filtered: bool,
    idle_handles: Mutex<Vec<HandleArc>>,
}

impl ObjectDatabase {
    pub(super) fn open(dir: PathBuf, format: gix_hash::Kind, filtered: bool) -> Result<Self, GitError> {
        let options =
            Options { slots: Slots::default(), alloc_limit_bytes: Some(STEP_MAX), ..Options::default() };
        // No replacement objects: an id always refers to its own object.
        let store = Store::at_opts(dir, format, &mut None.into_iter(), options);
        let store = store.map_err(|error| GitError::io("open the repository", &error))?;
        Ok(Self { store: Arc::new(store), format, filtered, idle_handles: Mutex::default() })
    }

    /// Runs a function with a handle from the pool.
    fn with_handle<T>(&self, run: impl FnOnce(&HandleArc) -> T) -> T {
        let idle = || self.idle_handles.lock().unwrap_or_else(PoisonError::into_inner);
        let pooled = idle().pop();
        let handle = pooled.unwrap_or_else(|| {
            let mut handle = self.store.to_cache_arc();
            // No packs are added later, so a missing object stays missing.
            handle.refresh_never();
            handle
        });
        let result = run(&handle);
        idle().push(handle);
        result
    }

    /// Reads an object. `None` if it does not exist.
    fn read(&self, id: &ObjectId, buffer: &mut Vec<u8>) -> Result<Option<Kind>, GitError> {
        self.with_handle(|handle| match handle.try_find(id, buffer) {
            Ok(object) => Ok(object.map(|object| object.kind)),
            Err(error) => Err(GitError::Damaged {
                reason: super::packet::display_message(error.to_string().as_bytes()),
            }),
        })
    }

    fn header(&self, id: &ObjectId) -> Option<(Kind, u64)> {
        self.with_handle(|handle| handle.try_header(id))
            .ok()
            .flatten()
            .map(|header| (header.kind(), header.size()))
    }

    /// Returns the commit with this id, or the commit that the tag with this id points to.
    pub(super) fn peel_to_commit(&self, mut id: ObjectId, name: &str) -> Result<ObjectId, GitError> {
        let mut buffer = Vec::new();
        for _ in 0..TAGS_MAX {
            match self.read(&id, &mut buffer)? {
                Some(Kind::Commit) => return Ok(id),
                Some(Kind::Tag) => {
                    let target = TagRefIter::from_bytes(&buffer, self.format).target_id();
                    id = target.map_err(|_| GitError::damaged("a tag has no target"))?;
                }
                Some(Kind::Tree | Kind::Blob) => return Err(GitError::NotACommit { name: name.to_owned() }),
                None => return Err(GitError::damaged("a commit is missing")),
            }
        }
        Err(GitError::damaged("the chain of tags is too long"))
    }

    /// Returns `true` if the object exists.
    pub(super) fn contains(&self, id: &ObjectId) -> bool {
        self.header(id).is_some()
    }
}

/// A tree that is not listed yet.
struct PendingTree {
    id: ObjectId,
    path: Vec<u8>,
}

impl GitTree {
    /// Lists the files of a commit, or of the directory `inner` in it.
    pub(super) fn list(
        objects: ObjectDatabase,
        commit: &ObjectId,
        inner: Option<&InnerPath>,
        task: &Task,
    ) -> Result<Self, GitError> {
        let mut buffer = Vec::new();
        objects.read(commit, &mut buffer)?;
        let root = CommitRefIter::from_bytes(&buffer, objects.format).tree_id();
        let root = root.map_err(|_| GitError::damaged("a commit has no tree"))?;
        let start = find_dir(&objects, root, inner)?;
        let mut tree = Self { objects, entries: Vec::new(), ids: Vec::new() };
        tree.walk(start, task)?;
        tree.sort();
        tree.load_sizes(task)?;
        Ok(tree)
    }

    fn walk(&mut self, start: PendingTree, task: &Task) -> Result<(), GitError> {
        let (mut buffer, mut dirs, mut pending) = (Vec::new(), 0, vec![start]);
        while let Some(dir) = pending.pop() {
            task.check_cancelled()?;
            // Directories count as well: a few that contain each other many times could be expanded without a limit.
            dirs += 1;
            if dirs + self.entries.len() > ENTRIES_MAX {
                return Err(GitError::TooManyEntries);
            }
            read_tree(&self.objects, &dir.id, &mut buffer)?;
            for entry in TreeRefIter::from_bytes(&buffer, self.objects.format) {
                let entry = entry.map_err(|_| GitError::damaged("a tree cannot be parsed"))?;
                let path = join_path(&dir.path, entry.filename)?;
                let kind = match entry.mode.kind() {
                    Mode::Tree => {
                        pending.push(PendingTree { id: entry.oid.to_owned(), path });
                        continue;
                    }
                    // The sizes are loaded later, after the number of entries is checked.
                    Mode::Blob => SourceEntryKind::File { executable: false, bytes: 0 },
                    Mode::BlobExecutable => SourceEntryKind::File { executable: true, bytes: 0 },
                    Mode::Link => SourceEntryKind::Link,
                    Mode::Commit => SourceEntryKind::Submodule,
                };
                if self.entries.len() + dirs >= ENTRIES_MAX {
                    return Err(GitError::TooManyEntries);
                }
                self.entries.push(SourceEntry { path: path.into(), kind });
                self.ids.push(entry.oid.to_owned());
            }
        }
        Ok(())
    }

    /// Loads the sizes of the files.
    fn load_sizes(&mut self, task: &Task) -> Result<(), GitError> {
        for index in 0..self.entries.len() {
            task.check_cancelled()?;
            if let SourceEntryKind::File { executable, .. } = self.entries[index].kind {
                self.entries[index].kind = self.file_kind(&self.ids[index], executable);
            }
        }
        Ok(())
    }

    fn file_kind(&self, id: &ObjectId, executable: bool) -> SourceEntryKind {
        match self.objects.header(id) {
            Some((Kind::Blob, bytes)) => SourceEntryKind::File { executable, bytes },
            Some(_) => SourceEntryKind::Special,
            // The server omitted it because of its size, or it is missing, which reading it reports.
            None if self.objects.filtered => SourceEntryKind::File { executable, bytes: FILE_MAX + 1 },
            None => SourceEntryKind::File { executable, bytes: 0 },
        }
    }

    fn sort(&mut self) {
        let mut all: Vec<(SourceEntry, ObjectId)> = self.entries.drain(..).zip(self.ids.drain(..)).collect();
        all.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        (self.entries, self.ids) = all.into_iter().unzip();
    }
}

impl SourceTree for GitTree {
    fn entries(&self) -> &[SourceEntry] {
        &self.entries
    }

    fn read_entry(&self, index: usize) -> Result<Vec<u8>, SourceReadError> {
        let failure = |code, message: &str| SourceReadError { code, message: message.into() };
        let (Some(entry), Some(id)) = (self.entries.get(index), self.ids.get(index)) else {
            return Err(failure(ErrorCode::InternalError, "no such entry"));
        };
        let SourceEntryKind::File { bytes, .. } = entry.kind else {
            return Err(failure(ErrorCode::AccessDenied, "not a regular file"));
        };
        if bytes > FILE_MAX {
            return Err(failure(ErrorCode::TooLarge, "the file is too large"));
        }
        let mut buffer = Vec::new();
        match self.objects.read(id, &mut buffer) {
            Ok(Some(Kind::Blob)) if buffer.len() as u64 <= FILE_MAX => Ok(buffer),
            Ok(Some(_)) => Err(failure(ErrorCode::ExecutionError, "the file changed")),
            Ok(None) => Err(failure(ErrorCode::NotFound, "the file is missing in the repository")),
            Err(error) => Err(failure(error.code(), &error.to_string())),
        }
    }
}

impl std::fmt::Debug for GitTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitTree").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

fn read_tree(objects: &ObjectDatabase, id: &ObjectId, buffer: &mut Vec<u8>) -> Result<(), GitError> {
    if id.is_empty_tree() {
        buffer.clear();
        return Ok(());
    }
    match objects.read(id, buffer)? {
        Some(Kind::Tree) => Ok(()),
        _ => Err(GitError::damaged("a tree is missing")),
    }
}

/// Finds the directory at a path.
fn find_dir(
    objects: &ObjectDatabase,
    root: ObjectId,
    inner: Option<&InnerPath>,
) -> Result<PendingTree, GitError> {
    let mut dir = PendingTree { id: root, path: Vec::new() };
    let Some(inner) = inner else { return Ok(dir) };
    let mut buffer = Vec::new();
    for component in inner.as_str().split('/') {
        read_tree(objects, &dir.id, &mut buffer)?;
        let mut entries = TreeRefIter::from_bytes(&buffer, objects.format).flatten();
        let entry = entries.find(|entry| entry.filename == component.as_bytes() && entry.mode.is_tree());
        let entry = entry.ok_or_else(|| GitError::NoDirectory { path: inner.as_str().to_owned() })?;
        dir = PendingTree { id: entry.oid.to_owned(), path: join_path(&dir.path, component.as_bytes())? };
    }
    Ok(dir)
}

fn join_path(dir: &[u8], name: &[u8]) -> Result<Vec<u8>, GitError> {
    if dir.len() + name.len() >= PATH_MAX {
        return Err(GitError::damaged("a path is too long"));
    }
    Ok(if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() })
}
