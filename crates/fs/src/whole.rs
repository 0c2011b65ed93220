//! Writing a file whole: the old bytes or the new ones, never half of either.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown, lchown};
use std::path::{Path, PathBuf};

/// Where a file is written before it is renamed. There is one name, so that what a killed process left is replaced by
/// the next one, and nothing piles up.
pub fn staged(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.prowess-new"))
}

/// Whether a power cut may take back what was written. Killing the process never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// It may not.
    Yes,
    /// For what can be made again, or is replaced again within the same command: waiting for the disk twice would be
    /// most of its time.
    No,
}

/// Writes a file and renames it into place. The caller holds its lock. Where only the user may read the file, so it is
/// with the directories that are made for it.
pub fn write_whole(path: &Path, bytes: &[u8], mode: u32, durable: Durable) -> io::Result<()> {
    let folder_mode = if mode & 0o077 == 0 { 0o700 } else { 0o777 };
    fs::DirBuilder::new().recursive(true).mode(folder_mode).create(folder(path))?;
    let staged = Staged::create(path, mode)?;
    staged.write(bytes, durable)?;
    staged.commit(durable)
}

/// Writes a file that only the user can read.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, bytes, 0o600, Durable::Yes)
}

/// Like [`replace`], without waiting for the disk: for what can be made again, and has checksums of its own.
pub fn replace_soon(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, bytes, 0o600, Durable::No)
}

/// Removes what a killed process staged for `path`, if there is anything.
pub fn clear(path: &Path) -> io::Result<()> {
    let staged = staged(path);
    if fs::symlink_metadata(&staged).is_err() {
        return Ok(());
    }
    let _lock = crate::lock(path)?;
    match fs::remove_file(&staged) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// New bytes beside a file. Dropped before [`commit`](Self::commit), they are removed.
#[derive(Debug)]
pub struct Staged {
    file: File,
    beside: PathBuf,
    path: PathBuf,
}

impl Staged {
    fn create(path: &Path, mode: u32) -> io::Result<Self> {
        let beside = staged(path);
        // There is nothing to remove where no process was killed.
        let _ = fs::remove_file(&beside);
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        Ok(Self { file, beside, path: path.to_owned() })
    }

    /// Stages bytes for a file in a directory that exists. The file keeps its mode and owner; a new one that root makes
    /// belongs to the owner of the directory.
    pub fn like_present(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        let present = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // Until its mode is set, only the user reads it.
        let staged = Self::create(path, if present.is_some() { 0o600 } else { 0o666 })?;
        let own = staged.file.metadata()?;
        let owner = match &present {
            Some(present) => {
                Some((present.uid(), present.gid())).filter(|owner| *owner != (own.uid(), own.gid()))
            }
            None => owner_above(path, &own),
        };
        if let Some((user, group)) = owner {
            fchown(&staged.file, Some(user), Some(group))?;
        }
        if let Some(present) = present {
            staged.file.set_permissions(Permissions::from_mode(present.mode() & 0o7777))?;
        }
        staged.write(bytes, Durable::Yes)?;
        Ok(staged)
    }

    fn write(&self, bytes: &[u8], durable: Durable) -> io::Result<()> {
        (&self.file).write_all(bytes)?;
        if durable == Durable::Yes { self.file.sync_all() } else { Ok(()) }
    }

    /// Renames the bytes into place.
    pub fn commit(self, durable: Durable) -> io::Result<()> {
        fs::rename(&self.beside, &self.path)?;
        match durable {
            Durable::Yes => File::open(folder(&self.path))?.sync_all(),
            Durable::No => Ok(()),
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a commit there is nothing; what cannot be removed is replaced by the next process.
        let _ = fs::remove_file(&self.beside);
    }
}

/// The directory that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => Path::new("/"),
    }
}

/// Makes a directory and those above it. What root makes belongs to the owner of the directory that it is made in.
pub fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make_folders(above)?;
    }
    match fs::create_dir(folder) {
        // Another process made it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        made => made?,
    }
    match owner_above(folder, &fs::symlink_metadata(folder)?) {
        Some((user, group)) => lchown(folder, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// Who should own what root has just made; no other user can give files away.
fn owner_above(path: &Path, made: &Metadata) -> Option<(u32, u32)> {
    let above = fs::metadata(path.parent()?).ok()?;
    (made.uid() == 0 && above.uid() != 0).then_some((above.uid(), above.gid()))
}
