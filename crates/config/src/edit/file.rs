//! A configuration file, changed while no other process of ours changes it.
//!
//! What must always hold: at every moment the file is whole, the old one or the new one. It keeps its mode and owner,
//! and where it is a link, the link stays and what it leads to is replaced.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use prowess_fs::{Durable, Staged, make_folders, staged};

use super::EditError;

/// The largest file that is read; larger ones are no configuration.
pub const FILE_MAX: u64 = 256 * 1024;

/// Whether links are followed on the way to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links<'p> {
    /// The user's own file may be kept elsewhere and linked.
    Followed,
    /// A project's file must lie in this folder itself: a link could lead to what is not the project's.
    Refused(&'p Path),
}

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Its text could not be changed.
    #[error("{}: {source}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        source: EditError,
    },
    /// It is not what a configuration file is.
    #[error("{} {why}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// Why not, to follow its name.
        why: String,
    },
    /// Somebody else changed it at the same time.
    #[error("{} changed while it was being changed; nothing was written", path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{} cannot be {what}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: "read", "written".
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

/// The text of a file; `None` where there is none.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    read_within(path, FILE_MAX)
}

/// The same with another limit, for those who keep more than settings in their configuration.
pub fn read_within(path: &Path, bytes_max: u64) -> Result<Option<String>, FileError> {
    let io = |source| FileError::Io { path: path.to_owned(), what: "read", source };
    let unfit = |why: &str| FileError::Unfit { path: path.to_owned(), why: why.to_owned() };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
        // Opening a FIFO would wait for somebody to write to it.
        Ok(metadata) if !metadata.is_file() => return Err(unfit("is not a regular file")),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(bytes_max + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > bytes_max {
        return Err(unfit(&format!("has more than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| unfit("is not UTF-8"))
}

/// Changes a file, which is made where it is not there. Tells whether anything changed.
pub fn change(
    path: &Path,
    links: Links<'_>,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<bool, FileError> {
    let failed = |source| FileError::Edit { path: path.to_owned(), source };
    change_within(path, links, FILE_MAX, |before| {
        let after = edit(before.unwrap_or_default()).map_err(failed)?;
        Ok((after != before.unwrap_or_default()).then_some(after))
    })
}

/// Changes a file up to a size, which is made where it is not there. `None` leaves it as it is, and an empty text
/// removes it: to whoever reads a configuration, that is the same, or better. What a link leads to is emptied instead.
pub fn change_within(
    path: &Path,
    links: Links<'_>,
    bytes_max: u64,
    edit: impl FnOnce(Option<&str>) -> Result<Option<String>, FileError>,
) -> Result<bool, FileError> {
    let target = target(path, links)?;
    let io = |source| FileError::Io { path: path.to_owned(), what: "written", source };
    let read = |path: &Path| read_within(path, bytes_max);
    let folder = target.parent().ok_or_else(|| io(io::Error::other("the path has no folder")))?;
    if read(&target)?.is_none() {
        make_folders(folder).map_err(io)?;
    }
    // The folder is what is locked: a file of its own for that would lie about in the user's project.
    let lock = File::open(folder).map_err(io)?;
    lock.lock().map_err(io)?;
    let before = read(&target)?;
    let Some(after) = edit(before.as_deref())? else { return Ok(false) };
    if after.is_empty() && target == path {
        if before.is_some() {
            fs::remove_file(&target).map_err(io)?;
            lock.sync_all().map_err(io)?;
        }
        return Ok(before.is_some());
    }
    let staged = Staged::like_present(&target, after.as_bytes()).map_err(io)?;
    if read(&target)? != before {
        return Err(FileError::Changing { path: path.to_owned() });
    }
    staged.commit(Durable::Yes).map_err(io)?;
    Ok(true)
}

/// Removes what a killed process staged.
pub fn clear(path: &Path) -> io::Result<()> {
    let Ok(target) = target(path, Links::Followed) else { return Ok(()) };
    let staged = staged(&target);
    if fs::symlink_metadata(&staged).is_err() {
        return Ok(());
    }
    let folder = File::open(staged.parent().unwrap_or(Path::new("/")))?;
    folder.lock()?;
    fs::remove_file(staged)
}

/// Where the bytes are: the file itself, or what it is a link to, there or not.
fn target(path: &Path, links: Links<'_>) -> Result<PathBuf, FileError> {
    let unfit = |why: &str| FileError::Unfit { path: path.to_owned(), why: why.to_owned() };
    if let Links::Refused(folder) = links {
        let linked = path.ancestors().take_while(|above| *above != folder).any(Path::is_symlink);
        return if linked {
            Err(unfit("is reached through a link, which is not followed"))
        } else {
            Ok(path.to_owned())
        };
    }
    let mut target = path.to_owned();
    // As many as the system itself follows.
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().map_or(next.clone(), |folder| folder.join(&next)),
            Err(_) => return Ok(target),
        }
    }
    Err(unfit("is a link that leads back to itself"))
}
