//! Collects what a script changed in its workspace, after all of its processes have ended.

use std::io;
use std::path::{Path, PathBuf};

use prowess_archive::InnerPath;
use prowess_fs::{Dir, EntryKind, Fingerprint, digest, read_whole};

use super::grants::is_protected_name;
use super::staging::is_staging_name;
use super::{Artifact, CopiedTree};
use crate::Limits;

/// The maximum depth of directories. Deeper ones are not collected.
const DEPTH_MAX: usize = 32;

/// Whether files are collected that other programs run or trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtectedFiles {
    /// Not collected, because changes are applied to directories of the user.
    Skipped,
    /// Collected. They are never copied to a directory.
    Collected,
}

/// The changes of a script.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// Files that were created or changed, sorted by path.
    pub(crate) artifacts: Vec<Artifact>,
    /// Files that were removed, sorted by path.
    pub(crate) removed: Vec<String>,
    /// Directories that were created and are empty.
    pub(super) created_dirs: Vec<PathBuf>,
    /// Directories that were removed, the innermost first.
    pub(super) removed_dirs: Vec<PathBuf>,
    /// Why some changes are not kept.
    pub(crate) remarks: Vec<String>,
}

impl Changes {
    /// Returns the changes without removals and without files that other programs run or trust.
    pub(super) fn only_artifacts(&self) -> Self {
        let mut changes = Self { removed: Vec::new(), removed_dirs: Vec::new(), ..self.clone() };
        changes.artifacts.retain(|artifact| !has_protected_name(Path::new(&artifact.path)));
        changes.created_dirs.retain(|path| !has_protected_name(path));
        changes
    }

    /// Compares a workspace with its state before the run. Symlinks, FIFOs, sockets and devices are not opened. Fails if
    /// there is more than the limits allow, because files that are not seen would count as removed.
    pub(crate) fn collect(
        workspace: &Path,
        before: &CopiedTree,
        limits: &Limits,
        protected_files: ProtectedFiles,
    ) -> io::Result<Self> {
        let dir = Dir::open(workspace)?;
        let mut collector = Collector {
            before,
            protected_files,
            remaining_entries: limits.workspace_files as usize,
            remaining_bytes: limits.workspace_bytes,
            changes: Self::default(),
            found: CopiedNames::default(),
            not_kept: NotKept::default(),
        };
        collector.walk(&dir, Path::new(""), 0)?;
        Ok(collector.finish())
    }
}

/// Paths that exist after the run.
#[derive(Default)]
struct CopiedNames {
    files: std::collections::HashSet<PathBuf>,
    dirs: std::collections::HashSet<PathBuf>,
}

/// How many changes are not kept, by reason.
#[derive(Default)]
struct NotKept {
    links_and_devices: u32,
    names: u32,
    protected: u32,
    deep: u32,
    first_protected: Option<String>,
}

struct Collector<'c> {
    before: &'c CopiedTree,
    protected_files: ProtectedFiles,
    remaining_entries: usize,
    remaining_bytes: u64,
    changes: Changes,
    found: CopiedNames,
    not_kept: NotKept,
}

impl Collector<'_> {
    fn walk(&mut self, dir: &Dir, inner: &Path, depth: usize) -> io::Result<()> {
        let listing = dir.entries(self.remaining_entries)?;
        if listing.truncated {
            return Err(io::Error::other("it has too many files"));
        }
        self.remaining_entries -= listing.entries.len();
        for entry in listing.entries {
            let (name, path) = (Path::new(&*entry.name), inner.join(&*entry.name));
            match entry.kind {
                EntryKind::Dir if depth >= DEPTH_MAX => self.not_kept.deep += 1,
                EntryKind::Dir => {
                    self.found.dirs.insert(path.clone());
                    let open = dir.open_dir(name)?;
                    let before = self.changes.artifacts.len();
                    self.walk(&open, &path, depth + 1)?;
                    let is_new = !self.before.dirs.contains(&path) && before == self.changes.artifacts.len();
                    if is_new && self.check_name(&path).is_some() {
                        self.changes.created_dirs.push(path);
                    }
                }
                EntryKind::File => self.add_file(dir, name, path)?,
                EntryKind::Symlink | EntryKind::Special => self.add_other(dir, name, &path),
            }
        }
        Ok(())
    }

    fn add_file(&mut self, dir: &Dir, name: &Path, path: PathBuf) -> io::Result<()> {
        self.found.files.insert(path.clone());
        let (file, stat) = dir.open_file(name)?;
        let unchanged =
            self.before.files.get(&path).is_some_and(|before| before.copy == Fingerprint::from_stat(&stat));
        if unchanged {
            return Ok(());
        }
        let Some(inner) = self.check_name(&path) else { return Ok(()) };
        // The size, not the space on disk: a file may have holes, and a copy of it has none.
        let too_large = || io::Error::other("its files are too large");
        self.remaining_bytes = self.remaining_bytes.checked_sub(stat.size()).ok_or_else(too_large)?;
        let bytes = read_whole(&file, &stat, stat.size()).map_err(io::Error::other)?;
        self.changes.artifacts.push(Artifact {
            size: bytes.len() as u64,
            media_type: prowess::resources::guess_mime_type(inner.as_str(), &bytes),
            digest: digest(&bytes),
            path: inner.as_str().to_owned(),
        });
        Ok(())
    }

    /// Counts links and devices that the script created. Those that were copied in do not matter.
    fn add_other(&mut self, dir: &Dir, name: &Path, path: &Path) {
        let existed = self.before.files.contains_key(path);
        if existed {
            // A link in place of a file: the file stays as it was.
            self.found.files.insert(path.to_owned());
        }
        let is_new = dir
            .stat(name)
            .is_ok_and(|stat| self.before.links.get(path) != Some(&Fingerprint::from_stat(&stat)));
        if existed || is_new {
            self.not_kept.links_and_devices += 1;
        }
    }

    /// Returns the path if changes to it are kept.
    fn check_name(&mut self, path: &Path) -> Option<InnerPath> {
        if self.is_protected(path) {
            self.not_kept.protected += 1;
            let shown = || prowess::format::hidden::escape_for_display(&path.to_string_lossy()).into_owned();
            self.not_kept.first_protected.get_or_insert_with(shown);
            return None;
        }
        let parsed = InnerPath::parse(path.as_os_str().as_encoded_bytes());
        if parsed.is_err() {
            self.not_kept.names += 1;
        }
        parsed.ok()
    }

    /// Returns `true` for paths in which changes are not kept.
    fn is_protected(&self, path: &Path) -> bool {
        match self.protected_files {
            ProtectedFiles::Collected => false,
            ProtectedFiles::Skipped => {
                has_protected_name(path) || path.ancestors().any(|dir| self.before.program_dirs.contains(dir))
            }
        }
    }

    fn finish(mut self) -> Changes {
        let is_removed =
            |path: &&PathBuf| !self.found.files.contains(*path) && !self.before.only_copied.contains(*path);
        let removed: Vec<_> = self.before.files.keys().filter(is_removed).cloned().collect();
        for path in removed {
            if let Some(inner) = self.check_name(&path) {
                self.changes.removed.push(inner.as_str().to_owned());
            }
        }
        let removed_dirs = self.before.dirs.iter().filter(|path| !self.found.dirs.contains(*path));
        self.changes.removed_dirs =
            removed_dirs.filter(|path| !self.is_protected(path)).rev().cloned().collect();
        self.changes.artifacts.sort_by(|a, b| a.path.cmp(&b.path));
        self.changes.remarks = self.not_kept.describe();
        self.changes
    }
}

/// Returns `true` if a part of the path has a name that other programs trust.
fn has_protected_name(path: &Path) -> bool {
    path.iter().any(|name| is_staging_name(name) || name.to_str().is_some_and(is_protected_name))
}

impl NotKept {
    fn describe(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let mut add = |count: u32, [singular, plural]: [&str; 2], reason: &str| match count {
            0 => {}
            1 => remarks.push(format!("1 {singular} is not kept: {reason}")),
            _ => remarks.push(format!("{count} {plural} are not kept: {reason}")),
        };
        add(
            self.links_and_devices,
            ["link or special file", "links or special files"],
            "only regular files and directories are",
        );
        add(self.names, ["file", "files"], "the name contains characters that are not allowed");
        add(self.deep, ["directory", "directories"], "there are too many levels");
        let first = self.first_protected.as_deref().unwrap_or_default();
        add(
            self.protected,
            ["change", "changes"],
            &format!("other programs run or trust files such as {first}"),
        );
        remarks
    }
}
