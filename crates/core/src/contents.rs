//! The files of a skill: listed, sorted, bounded.

use std::path::Path;

use crate::bundled::BUNDLED;
use crate::skill::{Found, Link};
use crate::supply::{OfferedFile, Supplied};
use prowess_fs::{EntryKind, Folder, Stat};

/// The most files that are listed.
const FILES_MAX: usize = 1_000;

/// The most entries that are looked at to find them.
const ENTRIES_MAX: usize = 10_000;

/// How deep folders are looked into.
const DEPTH_MAX: usize = 16;

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path below the skill's folder, with `/`.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it may be executed.
    pub executable: bool,
}

/// What a skill's folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// The regular files, sorted by path.
    pub files: Vec<FileEntry>,
    /// Links, special files, and names that are not Unicode: they are never read.
    pub refused: Vec<String>,
    /// Whether there are more files than are listed.
    pub cut: bool,
}

impl Contents {
    /// Lists the files of a skill. Folders that cannot be read are left out, and nothing is listed behind a link that
    /// leads outside the known directories.
    pub fn of(found: &Found) -> Self {
        if found.root().is_embedded() {
            return Self::embedded(&found.id());
        }
        if let Some(supplied) = found.supplied() {
            return Self::supplied(supplied);
        }
        if found.is_outside() {
            return Self::default();
        }
        let folder = Folder::open_resolved(&found.canonical_folder());
        let mut contents = folder.map_or_else(|_| Self::default(), |it| Self::beneath(&it, Path::new("")));
        if let Some(Link { folder: false, .. }) = found.link() {
            // Its own file was followed to where it is known to lie.
            contents.refused.retain(|path| path != found.file.as_str());
            let path = found.file.as_str().to_owned();
            contents.files.push(FileEntry { path, bytes: found.bytes(), executable: false });
            contents.files.sort_by(|a, b| a.path.cmp(&b.path));
        }
        contents
    }

    /// Lists the files of an open folder, or of a folder in it; the paths are those below the open one.
    pub(crate) fn beneath(folder: &Folder, below: &Path) -> Self {
        let entry = |folder: &Folder, name: &Path, path: &str| {
            folder.stat(name).ok().map(|stat| file_entry(path, &stat))
        };
        let Listing { mut files, mut refused, cut, .. } = Listing::of(folder, below, &entry);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        refused.sort();
        Self { files, refused, cut }
    }

    /// The paths of the files of an open folder, sorted, and whether there are more. Nothing is asked of each
    /// file but its name.
    pub(crate) fn paths(folder: &Folder) -> (Vec<String>, bool) {
        let entry = |_: &Folder, _: &Path, path: &str| Some(path.to_owned());
        let Listing { mut files, cut, .. } = Listing::of(folder, Path::new(""), &entry);
        files.sort_unstable();
        (files, cut)
    }

    fn embedded(id: &str) -> Self {
        let skill = BUNDLED.iter().find(|skill| skill.id == id);
        let entry = |(path, bytes): &(&str, &[u8])| FileEntry {
            path: (*path).to_owned(),
            bytes: bytes.len() as u64,
            executable: crate::bundled::Bundled::is_executable(path),
        };
        let files = skill.map(|skill| skill.files.iter().map(entry).collect());
        Self { files: files.unwrap_or_default(), ..Self::default() }
    }

    /// As they were listed; nothing is asked of the server.
    fn supplied(supplied: &Supplied) -> Self {
        let entry =
            |file: &OfferedFile| FileEntry { path: file.path.clone(), bytes: file.size, executable: false };
        let mut files: Vec<_> = supplied.offered().files.iter().map(entry).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files, ..Self::default() }
    }

    /// All bytes together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Whether a path inside a skill leads into git's own folder, which is no part of the skill: addresses with passwords are
/// kept there.
pub(crate) fn is_gits(path: impl AsRef<Path>) -> bool {
    path.as_ref().starts_with(".git")
}

/// A listing under way, with whatever is wanted of each file.
struct Listing<T> {
    files: Vec<T>,
    refused: Vec<String>,
    cut: bool,
    /// How many entries are still looked at.
    left: usize,
}

impl<T> Listing<T> {
    /// Lists what lies at `below` in a folder. `file` is given the folder that a file lies in, its name
    /// there, and its path.
    fn of(folder: &Folder, below: &Path, file: &impl Fn(&Folder, &Path, &str) -> Option<T>) -> Self {
        let mut listing = Self { files: Vec::new(), refused: Vec::new(), cut: false, left: ENTRIES_MAX };
        if below.as_os_str().is_empty() {
            listing.list(folder, below, 0, file);
        } else if let Ok(folder) = folder.folder(below) {
            listing.list(&folder, below, below.components().count(), file);
        }
        listing
    }

    fn list(
        &mut self,
        folder: &Folder,
        below: &Path,
        depth: usize,
        file: &impl Fn(&Folder, &Path, &str) -> Option<T>,
    ) {
        let Ok(entries) = folder.entries(self.left) else { return };
        self.left -= entries.list.len();
        self.cut |= entries.cut;
        for entry in entries.list {
            if self.files.len() >= FILES_MAX {
                self.cut = true;
                return;
            }
            let (name, path) = (Path::new(&*entry.name), below.join(&*entry.name));
            match (entry.kind, path.to_str()) {
                (EntryKind::Folder, Some(text)) if is_gits(text) => {}
                (EntryKind::Folder, _) if depth >= DEPTH_MAX => self.cut = true,
                (EntryKind::Folder, _) => {
                    if let Ok(folder) = folder.folder(name) {
                        self.list(&folder, &path, depth + 1, file);
                    }
                }
                (EntryKind::File, Some(text)) => self.files.extend(file(folder, name, text)),
                (EntryKind::File | EntryKind::Link | EntryKind::Special, _) => {
                    self.refused.push(path.display().to_string());
                }
            }
        }
    }
}

fn file_entry(path: &str, stat: &Stat) -> FileEntry {
    FileEntry { path: path.to_owned(), bytes: stat.size(), executable: stat.is_executable() }
}
