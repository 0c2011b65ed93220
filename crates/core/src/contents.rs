//! The files of a skill: listed, sorted, bounded.

use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use crate::bundled::BUNDLED;
use crate::files::{EntryKind, Folder};
use crate::scan::Found;

/// The most files that are listed.
const FILES_MAX: usize = 1_000;

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
    /// Links and special files: they are never read.
    pub refused: Vec<String>,
    /// Whether there are more files than are listed.
    pub cut: bool,
}

impl Contents {
    /// Lists the files of a skill. Folders that cannot be read are left out.
    pub fn of(found: &Found) -> Self {
        if found.root().is_embedded() {
            return Self::embedded(&found.id());
        }
        Folder::open(&found.canonical_folder())
            .map(|folder| Self::beneath(&folder, Path::new("")))
            .unwrap_or_default()
    }

    /// Lists the files of an open folder, or of a folder in it; the paths are those below the open one.
    pub(crate) fn beneath(folder: &Folder, below: &Path) -> Self {
        let mut contents = Self::default();
        contents.list(folder, below, below.components().count());
        contents.files.sort_by(|a, b| a.path.cmp(&b.path));
        contents
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

    fn list(&mut self, root: &Folder, below: &Path, depth: usize) {
        let inner = if depth == 0 { Path::new(".") } else { below };
        let listing = root.folder(inner).and_then(|folder| folder.entries(FILES_MAX + 1));
        let Ok(entries) = listing else { return };
        self.cut |= entries.cut;
        for entry in entries.list {
            let path: PathBuf = below.join(&*entry.name);
            if self.files.len() >= FILES_MAX {
                self.cut = true;
                return;
            }
            match entry.kind {
                EntryKind::Folder if depth < DEPTH_MAX => self.list(root, &path, depth + 1),
                EntryKind::Folder => self.cut = true,
                EntryKind::File => {
                    self.files.extend(root.stat(&path).ok().map(|stat| file_entry(&path, &stat)))
                }
                EntryKind::Link | EntryKind::Special => self.refused.push(path.display().to_string()),
            }
        }
    }

    /// All bytes together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

fn file_entry(path: &Path, stat: &Stat) -> FileEntry {
    FileEntry {
        path: path.to_string_lossy().into_owned(),
        bytes: u64::try_from(stat.st_size).unwrap_or_default(),
        executable: stat.st_mode & 0o111 != 0,
    }
}
