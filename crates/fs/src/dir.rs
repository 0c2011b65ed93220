//! A directory handle, and opening files beneath it.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::Stat;
use crate::system::{OPEN_FLAGS, TRAVERSE_FLAGS, list_dir, open_beneath};

/// An open directory. Everything opened through it is beneath it.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
    /// Whether the directory was listed before: on Linux, the next listing must rewind it.
    listed: AtomicBool,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name in the directory.
    pub name: Box<OsStr>,
    /// The kind of the entry.
    pub kind: EntryKind,
}

/// The kind of a directory entry, without following symlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Dir,
    /// A regular file.
    File,
    /// A symlink.
    Symlink,
    /// A FIFO, a socket or a device.
    Special,
}

/// Entries sorted by name, up to a limit.
#[derive(Debug)]
pub struct DirEntries {
    /// The entries.
    pub entries: Vec<DirEntry>,
    /// Whether there are more entries than the limit.
    pub truncated: bool,
}

impl Dir {
    /// Opens a directory by its path. Symlinks in the path are followed, because the caller chose it.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let flags = OPEN_FLAGS | OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self::new(fd, path.to_owned()))
    }

    /// Opens a file by a path that was resolved before, in one call. Symlinks in it are refused.
    pub fn open_file_resolved(path: &Path) -> Result<(OwnedFd, Stat), Errno> {
        match path.as_os_str().as_bytes().strip_prefix(b"/") {
            Some(inner) => Self::root()?.open_file(Path::new(OsStr::from_bytes(inner))),
            None => Err(Errno::XDEV),
        }
    }

    /// Returns the root of the file system, which is opened once.
    fn root() -> Result<&'static Self, Errno> {
        static ROOT: OnceLock<Dir> = OnceLock::new();
        match ROOT.get() {
            Some(root) => Ok(root),
            None => {
                let fd =
                    rustix::fs::open("/", OPEN_FLAGS | TRAVERSE_FLAGS | OFlags::DIRECTORY, Mode::empty())?;
                Ok(ROOT.get_or_init(|| Self::new(fd, PathBuf::from("/"))))
            }
        }
    }

    fn new(fd: OwnedFd, path: PathBuf) -> Self {
        Self { fd, path, listed: AtomicBool::new(false) }
    }

    /// Opens a directory by a path that was resolved before. Symlinks in it, created since then, are refused.
    pub fn open_resolved(path: &Path) -> Result<Self, Errno> {
        let inner = path.strip_prefix("/").unwrap_or(path);
        let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
        let fd = open_beneath(&Self::root()?.fd, inner, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self::new(fd, path.to_owned()))
    }

    /// Returns the file descriptor.
    pub(super) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory beneath this one.
    pub fn open_dir(&self, inner: &Path) -> Result<Self, Errno> {
        let fd = open_beneath(&self.fd, inner, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self::new(fd, self.path.join(inner)))
    }

    /// Opens a file of any type beneath this directory, and returns its metadata.
    pub fn open_file(&self, inner: &Path) -> Result<(OwnedFd, Stat), Errno> {
        let fd = open_beneath(&self.fd, inner, OFlags::RDONLY)?;
        let stat = Stat::from_fd(&fd)?;
        Ok((fd, stat))
    }

    /// Returns the metadata of an entry beneath this directory. A symlink at the end of the path is not followed,
    /// but those before it are: for a path with several components, check that the result is the expected file.
    pub fn stat(&self, inner: &Path) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.fd, inner, AtFlags::SYMLINK_NOFOLLOW).map(Stat)
    }

    /// Returns the metadata of the directory itself.
    pub fn stat_self(&self) -> Result<Stat, Errno> {
        Stat::from_fd(&self.fd)
    }

    /// Returns the entries, sorted by name, at most `max` of them.
    pub fn entries(&self, max: usize) -> Result<DirEntries, Errno> {
        let was_listed = self.listed.swap(true, Ordering::Relaxed);
        let mut entries = Vec::new();
        let mut truncated = false;
        list_dir(&self.fd, was_listed, &mut |name, kind| {
            if matches!(name, b"." | b"..") {
                return ControlFlow::Continue(());
            }
            if entries.len() >= max {
                truncated = true;
                return ControlFlow::Break(());
            }
            let name: Box<OsStr> = OsStr::from_bytes(name).into();
            let kind = match kind {
                // Some file systems do not report the type in the listing.
                FileType::Unknown => {
                    self.stat(Path::new(&*name)).map_or(FileType::Unknown, |stat| stat.kind())
                }
                kind => kind,
            };
            let kind = match kind {
                FileType::Directory => EntryKind::Dir,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Symlink,
                _ => EntryKind::Special,
            };
            entries.push(DirEntry { name, kind });
            ControlFlow::Continue(())
        })?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(DirEntries { entries, truncated })
    }
}

/// Describes an error in terms that users know.
pub fn describe_errno(error: Errno) -> String {
    match error {
        Errno::NOENT => "no such file or directory".to_owned(),
        Errno::LOOP => "it is a symlink".to_owned(),
        Errno::MFILE | Errno::NFILE => "too many open files".to_owned(),
        Errno::IO => "input/output error".to_owned(),
        error => std::io::Error::from(error).kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_opened_outside_or_through_a_symlink() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("in/deep")).unwrap();
        fs::write(temp.path().join("secret"), "s").unwrap();
        fs::write(temp.path().join("in/deep/file"), "f").unwrap();
        symlink("../secret", temp.path().join("in/link")).unwrap();
        symlink("deep", temp.path().join("in/alias")).unwrap();
        let dir = Dir::open(&temp.path().join("in")).unwrap();
        for open in [open_beneath, crate::system::walk_beneath] {
            let open = |inner: &str| open(&dir.fd, Path::new(inner), OFlags::RDONLY).map(|_| ());
            assert_eq!(open("deep/file"), Ok(()));
            assert_eq!(open("../secret"), Err(Errno::XDEV));
            assert_eq!(open("deep/../../secret"), Err(Errno::XDEV));
            assert_eq!(open("/etc/passwd"), Err(Errno::XDEV));
            assert_eq!(open("link"), Err(Errno::LOOP));
            assert_eq!(open("alias/file"), Err(Errno::LOOP));
            assert_eq!(open("deep/file/x"), Err(Errno::NOTDIR));
            assert_eq!(open("none"), Err(Errno::NOENT));
            assert_eq!(open(&"x/".repeat(2_048)), Err(Errno::NAMETOOLONG));
        }
    }

    #[test]
    fn a_resolved_path_is_opened_without_following_symlinks() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().canonicalize().unwrap().join("real");
        fs::create_dir_all(real.join("deep")).unwrap();
        symlink("real", temp.path().join("alias")).unwrap();
        let open = |path: &Path| Dir::open_resolved(path).map(|dir| dir.path().to_owned());
        assert_eq!(open(&real.join("deep")), Ok(real.join("deep")));
        assert_eq!(open(&real.with_file_name("alias").join("deep")), Err(Errno::LOOP));
        assert_eq!(open(&real.with_file_name("alias")), Err(Errno::LOOP));
        assert_eq!(open(Path::new("/")), Ok("/".into()));
    }

    #[test]
    fn entries_are_sorted_and_bounded() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["b", "a", "c"] {
            fs::write(temp.path().join(name), "").unwrap();
        }
        let dir = Dir::open(temp.path()).unwrap();
        let all = dir.entries(10).unwrap();
        assert_eq!(all.entries.iter().map(|entry| &*entry.name).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(!all.truncated && dir.entries(2).unwrap().truncated);
    }
}
