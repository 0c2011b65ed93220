//! Atomic writes: a reader sees either the old content or the new one.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown, lchown};
use std::path::{Path, PathBuf};

/// Returns the path at which a file is written before it is renamed. There is one per file, so that the remains
/// of a killed process are replaced by the next one and do not accumulate.
pub fn staging_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.prowess-new"))
}

/// Returns the path that an error of [`write_atomic`] or [`AtomicFile`] is about: the staging path if something else is
/// there, such as a directory, and otherwise `path`.
pub fn failed_path(path: &Path, error: &io::Error) -> PathBuf {
    let staging_path = staging_path(path);
    let is_blocked =
        error.kind() == io::ErrorKind::AlreadyExists && fs::symlink_metadata(&staging_path).is_ok();
    if is_blocked { staging_path } else { path.to_owned() }
}

/// Whether a write survives a power failure. It always survives the end of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Wait until the data is on disk.
    Sync,
    /// Do not wait. For data that can be recreated, or is replaced again within the same command.
    NoSync,
}

/// Writes a file atomically. The caller holds its lock. If only the user may read the file, new parent
/// directories are private, too.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32, sync: SyncPolicy) -> io::Result<()> {
    let dir_mode = if mode & 0o077 == 0 { 0o700 } else { 0o777 };
    fs::DirBuilder::new().recursive(true).mode(dir_mode).create(parent_dir(path))?;
    let staged = AtomicFile::create(path, mode)?;
    staged.write(bytes, sync)?;
    staged.commit(sync)
}

/// Atomically writes a file that only the user can read.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomic(path, bytes, 0o600, SyncPolicy::Sync)
}

/// Like [`write_private`], without waiting for the disk: for data that can be recreated and has its own
/// checksums.
pub fn write_private_nosync(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomic(path, bytes, 0o600, SyncPolicy::NoSync)
}

/// Removes the file that a killed process staged for `path`, if any.
pub fn remove_staged(path: &Path) -> io::Result<()> {
    let staged = staging_path(path);
    if fs::symlink_metadata(&staged).is_err() {
        return Ok(());
    }
    let _lock = crate::lock(path)?;
    match fs::remove_file(&staged) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// New content staged beside a file. It is removed on drop, unless [`commit`](Self::commit) was called.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    staging_path: PathBuf,
    path: PathBuf,
}

impl AtomicFile {
    fn create(path: &Path, mode: u32) -> io::Result<Self> {
        let staging_path = staging_path(path);
        // The file exists only if a process was killed.
        let _ = fs::remove_file(&staging_path);
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&staging_path)?;
        Ok(Self { file, staging_path, path: path.to_owned() })
    }

    /// Stages content for a file in an existing directory. An existing file keeps its mode and owner; a new one
    /// created by root belongs to the owner of the directory.
    pub fn with_existing_metadata(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        let existing = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // Until it has the mode of the existing file, only the user can read it.
        let staged = Self::create(path, if existing.is_some() { 0o600 } else { 0o666 })?;
        let created = staged.file.metadata()?;
        let owner = match &existing {
            Some(existing) => Some((existing.uid(), existing.gid()))
                .filter(|owner| *owner != (created.uid(), created.gid())),
            None => inherited_owner(path, &created),
        };
        if let Some((user, group)) = owner {
            fchown(&staged.file, Some(user), Some(group))?;
        }
        if let Some(existing) = existing {
            staged.file.set_permissions(Permissions::from_mode(existing.mode() & 0o7777))?;
        }
        staged.write(bytes, SyncPolicy::Sync)?;
        Ok(staged)
    }

    fn write(&self, bytes: &[u8], sync: SyncPolicy) -> io::Result<()> {
        (&self.file).write_all(bytes)?;
        if sync == SyncPolicy::Sync { self.file.sync_all() } else { Ok(()) }
    }

    /// Renames the staged file into place.
    pub fn commit(self, sync: SyncPolicy) -> io::Result<()> {
        fs::rename(&self.staging_path, &self.path)?;
        match sync {
            SyncPolicy::Sync => File::open(parent_dir(&self.path))?.sync_all(),
            SyncPolicy::NoSync => Ok(()),
        }
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After a commit the file is gone; one that cannot be removed is replaced by the next process.
        let _ = fs::remove_file(&self.staging_path);
    }
}

/// Returns the directory that contains a file.
fn parent_dir(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    }
}

/// Creates a directory and its missing parents. Directories created by root belong to the owner of their parent.
pub fn create_dir_all(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    create_dir_all(parent_dir(dir))?;
    match fs::create_dir(dir) {
        // Another process created it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => return Ok(()),
        result => result?,
    }
    match inherited_owner(dir, &fs::symlink_metadata(dir)?) {
        Some((user, group)) => lchown(dir, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// Returns the owner that a file just created by root should get; other users cannot give files away.
fn inherited_owner(path: &Path, created: &Metadata) -> Option<(u32, u32)> {
    let parent = fs::metadata(path.parent()?).ok()?;
    (created.uid() == 0 && parent.uid() != 0).then_some((parent.uid(), parent.gid()))
}
