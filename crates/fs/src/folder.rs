//! A folder, and what may be opened beneath it.

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
use crate::system::{FLAGS, PASS, list, open_beneath};

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
    /// Whether it was listed before: then the next listing has to be rewound on Linux.
    listed: AtomicBool,
}

/// What lies in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the folder.
    pub name: Box<OsStr>,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is, without following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket, a device.
    Special,
}

/// Entries in the order of their names, and whether there were more than the bound.
#[derive(Debug)]
pub struct Entries {
    /// The entries.
    pub list: Vec<Entry>,
    /// Whether there were more.
    pub cut: bool,
}

impl Folder {
    /// Opens a folder by its path. Links in the path itself are followed: it is the caller's.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let flags = FLAGS | OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self::new(fd, path.to_owned()))
    }

    /// Opens a file by a path that was resolved before, in one step; a link in it is refused, too.
    pub fn file_resolved(path: &Path) -> Result<(OwnedFd, Stat), Errno> {
        match path.as_os_str().as_bytes().strip_prefix(b"/") {
            Some(inner) => Self::top()?.file(Path::new(OsStr::from_bytes(inner))),
            None => Err(Errno::XDEV),
        }
    }

    /// The top of the file system, which is opened once, and only to begin there.
    fn top() -> Result<&'static Self, Errno> {
        static TOP: OnceLock<Folder> = OnceLock::new();
        match TOP.get() {
            Some(top) => Ok(top),
            None => {
                let fd = rustix::fs::open("/", FLAGS | PASS | OFlags::DIRECTORY, Mode::empty())?;
                Ok(TOP.get_or_init(|| Self::new(fd, PathBuf::from("/"))))
            }
        }
    }

    fn new(fd: OwnedFd, path: PathBuf) -> Self {
        Self { fd, path, listed: AtomicBool::new(false) }
    }

    /// Opens a folder by a path that was resolved before. A link that is in it now was put there since, and is refused.
    pub fn open_resolved(path: &Path) -> Result<Self, Errno> {
        let inner = path.strip_prefix("/").unwrap_or(path);
        let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
        let fd = open_beneath(&Self::top()?.fd, inner, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self::new(fd, path.to_owned()))
    }

    /// What the system knows it by.
    pub(super) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder beneath it.
    pub fn folder(&self, inner: &Path) -> Result<Self, Errno> {
        let fd = open_beneath(&self.fd, inner, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self::new(fd, self.path.join(inner)))
    }

    /// A file beneath it, of whatever kind, with what the file system says of it.
    pub fn file(&self, inner: &Path) -> Result<(OwnedFd, Stat), Errno> {
        let fd = open_beneath(&self.fd, inner, OFlags::RDONLY)?;
        let stat = Stat::of(&fd)?;
        Ok((fd, stat))
    }

    /// What the file system says of an entry beneath it; a link is described, not followed. Links on the way there are
    /// not looked for: whoever asks about more than one step compares the identity of what is found.
    pub fn stat(&self, inner: &Path) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.fd, inner, AtFlags::SYMLINK_NOFOLLOW).map(Stat)
    }

    /// What the file system says of the folder itself.
    pub fn own_stat(&self) -> Result<Stat, Errno> {
        Stat::of(&self.fd)
    }

    /// Its entries, sorted by name, at most `max` of them.
    pub fn entries(&self, max: usize) -> Result<Entries, Errno> {
        let was_listed = self.listed.swap(true, Ordering::Relaxed);
        let mut entries = Vec::new();
        let mut cut = false;
        list(&self.fd, was_listed, &mut |name, kind| {
            if matches!(name, b"." | b"..") {
                return ControlFlow::Continue(());
            }
            if entries.len() >= max {
                cut = true;
                return ControlFlow::Break(());
            }
            let name: Box<OsStr> = OsStr::from_bytes(name).into();
            let kind = match kind {
                // Some file systems do not say in the listing.
                FileType::Unknown => {
                    self.stat(Path::new(&*name)).map_or(FileType::Unknown, |stat| stat.kind())
                }
                known => known,
            };
            let kind = match kind {
                FileType::Directory => EntryKind::Folder,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Special,
            };
            entries.push(Entry { name, kind });
            ControlFlow::Continue(())
        })?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Entries { list: entries, cut })
    }
}

/// An error in words that people know.
pub fn words(error: Errno) -> String {
    match error {
        Errno::NOENT => "it is not there".to_owned(),
        Errno::LOOP => "it is a link".to_owned(),
        Errno::MFILE | Errno::NFILE => "too many files are open".to_owned(),
        Errno::IO => "the disk reports an error".to_owned(),
        error => std::io::Error::from(error).kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_opened_outside_or_through_a_link() {
        let world = tempfile::tempdir().unwrap();
        fs::create_dir_all(world.path().join("in/deep")).unwrap();
        fs::write(world.path().join("secret"), "s").unwrap();
        fs::write(world.path().join("in/deep/file"), "f").unwrap();
        symlink("../secret", world.path().join("in/link")).unwrap();
        symlink("deep", world.path().join("in/alias")).unwrap();
        let folder = Folder::open(&world.path().join("in")).unwrap();
        for open in [open_beneath, crate::system::walk_beneath] {
            let open = |inner: &str| open(&folder.fd, Path::new(inner), OFlags::RDONLY).map(|_| ());
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
    fn a_resolved_path_is_opened_without_any_link() {
        let world = tempfile::tempdir().unwrap();
        let real = world.path().canonicalize().unwrap().join("real");
        fs::create_dir_all(real.join("deep")).unwrap();
        symlink("real", world.path().join("alias")).unwrap();
        let open = |path: &Path| Folder::open_resolved(path).map(|folder| folder.path().to_owned());
        assert_eq!(open(&real.join("deep")), Ok(real.join("deep")));
        assert_eq!(open(&real.with_file_name("alias").join("deep")), Err(Errno::LOOP));
        assert_eq!(open(&real.with_file_name("alias")), Err(Errno::LOOP));
        assert_eq!(open(Path::new("/")), Ok("/".into()));
    }

    #[test]
    fn entries_are_sorted_and_bounded() {
        let world = tempfile::tempdir().unwrap();
        for name in ["b", "a", "c"] {
            fs::write(world.path().join(name), "").unwrap();
        }
        let folder = Folder::open(world.path()).unwrap();
        let all = folder.entries(10).unwrap();
        assert_eq!(all.list.iter().map(|entry| &*entry.name).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(!all.cut && folder.entries(2).unwrap().cut);
    }
}
