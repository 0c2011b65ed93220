//! The sorted, bounded list of a skill's files.

use std::path::{Path, PathBuf};

use crate::bundled::BundledSkill;
use crate::remote::{RemoteFile, RemoteSkill};
use crate::skill::{DiscoveredSkill, FilePaths, SkillLink};
use prowess_fs::{Dir, EntryKind, Fingerprint, Stat};

/// The maximum number of files that are listed.
const FILES_MAX: usize = 1_000;

/// The maximum number of directory entries that are read.
const ENTRIES_MAX: usize = 10_000;

/// The maximum depth of directories.
const DEPTH_MAX: usize = 16;

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The path relative to the skill's directory, with `/`.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
    /// Whether the file is executable.
    pub executable: bool,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileListing {
    /// The regular files, sorted by path.
    pub files: Vec<FileEntry>,
    /// Symlinks, special files and names that are not Unicode. They are never read.
    pub skipped: Vec<String>,
    /// Whether there are more files than are listed.
    pub truncated: bool,
}

impl FileListing {
    /// Lists the files of a skill. Skips directories that cannot be read; lists nothing behind a symlink to
    /// outside the known directories.
    pub fn for_skill(skill: &DiscoveredSkill) -> Self {
        if skill.root().is_embedded() {
            return Self::embedded(&skill.id());
        }
        if let Some(remote) = skill.remote() {
            return Self::remote(remote);
        }
        if skill.is_outside_known_dirs() {
            return Self::default();
        }
        let dir = Dir::open_resolved(&skill.canonical_dir());
        let mut contents = dir.map_or_else(|_| Self::default(), |dir| Self::in_dir(&dir, Path::new("")));
        if let Some(SkillLink { is_dir: false, .. }) = skill.link() {
            // The skill's own file is a symlink to a known directory, so it was followed.
            contents.skipped.retain(|path| path != skill.file.as_str());
            let path = skill.file.as_str().to_owned();
            contents.files.push(FileEntry { path, bytes: skill.skill_md_size(), executable: false });
            contents.files.sort_by(|a, b| a.path.cmp(&b.path));
        }
        contents
    }

    /// Lists the files of an open directory, or of its subdirectory if `subdir` is not empty. Paths are relative to
    /// the open directory.
    pub(crate) fn in_dir(dir: &Dir, subdir: &Path) -> Self {
        let entry =
            |dir: &Dir, name: &Path, path: &str| dir.stat(name).ok().map(|stat| file_entry(path, &stat));
        let Collector { mut files, mut skipped, truncated, .. } = Collector::collect(dir, subdir, &entry);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        skipped.sort();
        Self { files, skipped, truncated }
    }

    /// Returns the paths of the files in an open directory. Does not stat the files.
    pub(crate) fn paths(dir: &Dir) -> FilePaths {
        let entry = |_: &Dir, _: &Path, path: &str| Some(path.to_owned());
        let Collector { files: mut paths, truncated, dirs, .. } =
            Collector::collect(dir, Path::new(""), &entry);
        paths.sort_unstable();
        FilePaths { paths, truncated, dirs }
    }

    fn embedded(id: &str) -> Self {
        let skill = BundledSkill::find(id);
        let entry = |(path, bytes): &(&str, &[u8])| FileEntry {
            path: (*path).to_owned(),
            bytes: bytes.len() as u64,
            executable: BundledSkill::is_executable(path),
        };
        let files = skill.map(|skill| skill.files.iter().map(entry).collect());
        Self { files: files.unwrap_or_default(), ..Self::default() }
    }

    /// Returns the files as the server listed them; fetches nothing.
    fn remote(remote: &RemoteSkill) -> Self {
        let entry =
            |file: &RemoteFile| FileEntry { path: file.path.clone(), bytes: file.size, executable: false };
        let mut files: Vec<_> = remote.entry().files.iter().map(entry).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files, ..Self::default() }
    }

    /// Returns the total size of the files.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Returns `true` for a path inside the `.git` directory of a skill. It is not part of the skill and may hold
/// URLs with passwords.
pub(crate) fn is_git_path(path: impl AsRef<Path>) -> bool {
    path.as_ref().starts_with(".git")
}

/// Collects the files of a directory tree; `T` is what the caller needs of each file.
struct Collector<T> {
    files: Vec<T>,
    skipped: Vec<String>,
    truncated: bool,
    /// The visited directories, as they were before they were listed; `None` if one could not be read.
    dirs: Option<Vec<(PathBuf, Fingerprint)>>,
    /// How many more entries may be read.
    remaining: usize,
}

impl<T> Collector<T> {
    /// Collects the files in `subdir` of a directory. `file` receives the directory of a file, its name there,
    /// and its path.
    fn collect(dir: &Dir, subdir: &Path, file: &impl Fn(&Dir, &Path, &str) -> Option<T>) -> Self {
        let mut collector = Self {
            files: Vec::new(),
            skipped: Vec::new(),
            truncated: false,
            dirs: Some(Vec::new()),
            remaining: ENTRIES_MAX,
        };
        if subdir.as_os_str().is_empty() {
            collector.visit(dir, subdir, 0, file);
        } else if let Ok(dir) = dir.open_dir(subdir) {
            collector.visit(&dir, subdir, subdir.components().count(), file);
        }
        collector
    }

    fn visit(
        &mut self,
        dir: &Dir,
        parent: &Path,
        depth: usize,
        file: &impl Fn(&Dir, &Path, &str) -> Option<T>,
    ) {
        let (stat, entries) = (dir.stat_self(), dir.entries(self.remaining));
        let (Ok(stat), Ok(entries)) = (stat, entries) else {
            self.dirs = None;
            return;
        };
        if let Some(dirs) = &mut self.dirs {
            dirs.push((dir.path().to_owned(), Fingerprint::from_stat(&stat)));
        }
        self.remaining -= entries.entries.len();
        self.truncated |= entries.truncated;
        for entry in entries.entries {
            if self.files.len() >= FILES_MAX {
                self.truncated = true;
                return;
            }
            let (name, path) = (Path::new(&*entry.name), parent.join(&*entry.name));
            match (entry.kind, path.to_str()) {
                (EntryKind::Dir, Some(text)) if is_git_path(text) => {}
                (EntryKind::Dir, _) if depth >= DEPTH_MAX => self.truncated = true,
                (EntryKind::Dir, _) => match dir.open_dir(name) {
                    Ok(dir) => self.visit(&dir, &path, depth + 1, file),
                    Err(_) => self.dirs = None,
                },
                (EntryKind::File, Some(text)) => self.files.extend(file(dir, name, text)),
                (EntryKind::File | EntryKind::Symlink | EntryKind::Special, _) => {
                    self.skipped.push(path.display().to_string());
                }
            }
        }
    }
}

fn file_entry(path: &str, stat: &Stat) -> FileEntry {
    FileEntry { path: path.to_owned(), bytes: stat.size(), executable: stat.is_executable() }
}
