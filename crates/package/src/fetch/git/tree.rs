//! The files of one commit. Folders are read to know them, files only when they are asked for.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind as Mode;
use gix_object::{CommitRefIter, Find as _, Kind, TagRefIter, TreeRefIter};
use gix_odb::store::init::{Options, Slots};
use gix_odb::{HandleArc, Header as _, Store};
use prowess::ErrorCode;

use super::error::GitError;
use crate::Work;
use prowess_archive::limits::{ENTRIES_MAX, FILE_MAX};
use prowess_archive::{Entry, EntryKind, InnerPath, Tree, TreeFailure};

/// The most bytes that one step of reading an object may take. A file is put together out of others, which are larger
/// now and then.
const STEP_MAX: usize = 8 * FILE_MAX as usize;

/// The longest path that is looked at; no system has room for a longer one.
const PATH_MAX: usize = 4_096;

/// How many tags may be tags of tags.
const TAGS_MAX: usize = 8;

/// The files of one commit, or of a folder in it. All paths are from the top of the repository.
pub struct GitTree {
    objects: Objects,
    entries: Vec<Entry>,
    ids: Vec<ObjectId>,
}

/// Where the objects of a repository are read from, by several threads at once.
pub(super) struct Objects {
    store: Arc<Store>,
    format: gix_hash::Kind,
    /// Whether the server left out what is too large for us.
    filtered: bool,
    idle: Mutex<Vec<HandleArc>>,
}

impl Objects {
    pub(super) fn open(folder: PathBuf, format: gix_hash::Kind, filtered: bool) -> Result<Self, GitError> {
        let options =
            Options { slots: Slots::default(), alloc_limit_bytes: Some(STEP_MAX), ..Options::default() };
        // No replacements: what a hash names is what is read.
        let store = Store::at_opts(folder, format, &mut None.into_iter(), options);
        let store = store.map_err(|error| GitError::io("opening the repository", &error))?;
        Ok(Self { store: Arc::new(store), format, filtered, idle: Mutex::default() })
    }

    /// Works with a handle of its own, which is kept for the next.
    fn with<T>(&self, work: impl FnOnce(&HandleArc) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let handle = kept.unwrap_or_else(|| {
            let mut handle = self.store.to_cache_arc();
            // All packs are there from the beginning: what is missing once stays missing.
            handle.refresh_never();
            handle
        });
        let result = work(&handle);
        idle().push(handle);
        result
    }

    /// Reads an object whole. `None` if it is not there.
    fn read(&self, id: &ObjectId, buffer: &mut Vec<u8>) -> Result<Option<Kind>, GitError> {
        self.with(|handle| match handle.try_find(id, buffer) {
            Ok(found) => Ok(found.map(|object| object.kind)),
            Err(error) => Err(GitError::Damaged { why: super::packet::words(error.to_string().as_bytes()) }),
        })
    }

    fn header(&self, id: &ObjectId) -> Option<(Kind, u64)> {
        self.with(|handle| handle.try_header(id)).ok().flatten().map(|header| (header.kind(), header.size()))
    }

    /// The commit that this is, or that it is a tag of.
    pub(super) fn commit(&self, mut id: ObjectId, name: &str) -> Result<ObjectId, GitError> {
        let mut buffer = Vec::new();
        for _ in 0..TAGS_MAX {
            match self.read(&id, &mut buffer)? {
                Some(Kind::Commit) => return Ok(id),
                Some(Kind::Tag) => {
                    let target = TagRefIter::from_bytes(&buffer, self.format).target_id();
                    id = target.map_err(|_| GitError::damaged("a tag is of nothing"))?;
                }
                Some(Kind::Tree | Kind::Blob) => return Err(GitError::NotACommit { name: name.to_owned() }),
                None => return Err(GitError::damaged("a commit is missing")),
            }
        }
        Err(GitError::damaged("a tag leads nowhere"))
    }

    /// Whether there is such an object at all.
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        self.header(id).is_some()
    }
}

/// A folder that is still to be looked into.
struct Folder {
    id: ObjectId,
    path: Vec<u8>,
}

impl GitTree {
    /// Lists the files of a commit, or of the folder `inner` in it.
    pub(super) fn list(
        objects: Objects,
        commit: &ObjectId,
        inner: Option<&InnerPath>,
        work: &Work,
    ) -> Result<Self, GitError> {
        let mut buffer = Vec::new();
        objects.read(commit, &mut buffer)?;
        let top = CommitRefIter::from_bytes(&buffer, objects.format).tree_id();
        let top = top.map_err(|_| GitError::damaged("a commit has no files"))?;
        let begin = descend(&objects, top, inner)?;
        let mut tree = Self { objects, entries: Vec::new(), ids: Vec::new() };
        tree.walk(begin, work)?;
        tree.sort();
        tree.measure(work)?;
        Ok(tree)
    }

    fn walk(&mut self, begin: Folder, work: &Work) -> Result<(), GitError> {
        let (mut buffer, mut folders, mut open) = (Vec::new(), 0, vec![begin]);
        while let Some(folder) = open.pop() {
            work.go_on()?;
            // Folders count as well: a few that hold one another many times over never end in a file.
            folders += 1;
            if folders + self.entries.len() > ENTRIES_MAX {
                return Err(GitError::TooMany);
            }
            read_folder(&self.objects, &folder.id, &mut buffer)?;
            for entry in TreeRefIter::from_bytes(&buffer, self.objects.format) {
                let entry = entry.map_err(|_| GitError::damaged("a folder cannot be read"))?;
                let path = joined(&folder.path, entry.filename)?;
                let kind = match entry.mode.kind() {
                    Mode::Tree => {
                        open.push(Folder { id: entry.oid.to_owned(), path });
                        continue;
                    }
                    // How large they are is looked up when it is known that there are not too many.
                    Mode::Blob => EntryKind::File { executable: false, bytes: 0 },
                    Mode::BlobExecutable => EntryKind::File { executable: true, bytes: 0 },
                    Mode::Link => EntryKind::Link,
                    Mode::Commit => EntryKind::Submodule,
                };
                if self.entries.len() + folders >= ENTRIES_MAX {
                    return Err(GitError::TooMany);
                }
                self.entries.push(Entry { path: path.into(), kind });
                self.ids.push(entry.oid.to_owned());
            }
        }
        Ok(())
    }

    /// Looks up how large the files are.
    fn measure(&mut self, work: &Work) -> Result<(), GitError> {
        for at in 0..self.entries.len() {
            work.go_on()?;
            if let EntryKind::File { executable, .. } = self.entries[at].kind {
                self.entries[at].kind = self.file(&self.ids[at], executable);
            }
        }
        Ok(())
    }

    fn file(&self, id: &ObjectId, executable: bool) -> EntryKind {
        match self.objects.header(id) {
            Some((Kind::Blob, bytes)) => EntryKind::File { executable, bytes },
            Some(_) => EntryKind::Special,
            // It was left out for being larger than this, or is missing, which reading it says.
            None if self.objects.filtered => EntryKind::File { executable, bytes: FILE_MAX + 1 },
            None => EntryKind::File { executable, bytes: 0 },
        }
    }

    fn sort(&mut self) {
        let mut all: Vec<(Entry, ObjectId)> = self.entries.drain(..).zip(self.ids.drain(..)).collect();
        all.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        (self.entries, self.ids) = all.into_iter().unzip();
    }
}

impl Tree for GitTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, at: usize) -> Result<Vec<u8>, TreeFailure> {
        let failure = |code, message: &str| TreeFailure { code, message: message.into() };
        let (Some(entry), Some(id)) = (self.entries.get(at), self.ids.get(at)) else {
            return Err(failure(ErrorCode::InternalError, "there is no such entry"));
        };
        let EntryKind::File { bytes, .. } = entry.kind else {
            return Err(failure(ErrorCode::AccessDenied, "this is not a file"));
        };
        if bytes > FILE_MAX {
            return Err(failure(ErrorCode::TooLarge, "the file is too large"));
        }
        let mut buffer = Vec::new();
        match self.objects.read(id, &mut buffer) {
            Ok(Some(Kind::Blob)) if buffer.len() as u64 <= FILE_MAX => Ok(buffer),
            Ok(Some(_)) => Err(failure(ErrorCode::ExecutionError, "the file is not what it was")),
            Ok(None) => Err(failure(ErrorCode::NotFound, "the repository does not have the file's bytes")),
            Err(error) => Err(failure(error.code(), &error.to_string())),
        }
    }
}

impl std::fmt::Debug for GitTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitTree").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

fn read_folder(objects: &Objects, id: &ObjectId, buffer: &mut Vec<u8>) -> Result<(), GitError> {
    if id.is_empty_tree() {
        buffer.clear();
        return Ok(());
    }
    match objects.read(id, buffer)? {
        Some(Kind::Tree) => Ok(()),
        _ => Err(GitError::damaged("a folder is missing")),
    }
}

/// Finds the folder at a path.
fn descend(objects: &Objects, top: ObjectId, inner: Option<&InnerPath>) -> Result<Folder, GitError> {
    let mut folder = Folder { id: top, path: Vec::new() };
    let Some(inner) = inner else { return Ok(folder) };
    let mut buffer = Vec::new();
    for step in inner.as_str().split('/') {
        read_folder(objects, &folder.id, &mut buffer)?;
        let mut entries = TreeRefIter::from_bytes(&buffer, objects.format).flatten();
        let found = entries.find(|entry| entry.filename == step.as_bytes() && entry.mode.is_tree());
        let found = found.ok_or_else(|| GitError::NoFolder { path: inner.as_str().to_owned() })?;
        folder = Folder { id: found.oid.to_owned(), path: joined(&folder.path, step.as_bytes())? };
    }
    Ok(folder)
}

fn joined(folder: &[u8], name: &[u8]) -> Result<Vec<u8>, GitError> {
    if folder.len() + name.len() >= PATH_MAX {
        return Err(GitError::damaged("a path in it is longer than any system takes"));
    }
    Ok(if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() })
}
