//! A folder, and what may be opened beneath it.

use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom, Stat};
use rustix::io::Errno;

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
    /// Whether a listing was begun: only then does the next one have to be rewound.
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

const FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// For a folder that is only passed through: where the system has it, that takes no right to list it.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY;

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
        let fd = Self::top()?.open_beneath(inner, OFlags::RDONLY | OFlags::DIRECTORY)?;
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
        let fd = self.open_beneath(inner, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self::new(fd, self.path.join(inner)))
    }

    /// A file beneath it, of whatever kind, with what the file system says of it.
    pub fn file(&self, inner: &Path) -> Result<(OwnedFd, Stat), Errno> {
        let fd = self.open_beneath(inner, OFlags::RDONLY)?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok((fd, stat))
    }

    /// What the file system says of an entry beneath it; a link is described, not followed. Links on the way there are
    /// not looked for: whoever asks about more than one step compares the identity of what is found.
    pub fn stat(&self, inner: &Path) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.fd, inner, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// What the file system says of the folder itself.
    pub fn own_stat(&self) -> Result<Stat, Errno> {
        rustix::fs::fstat(&self.fd)
    }

    /// Its entries, sorted by name, at most `max` of them.
    pub fn entries(&self, max: usize) -> Result<Entries, Errno> {
        // A listing goes on where the one before it ended.
        if self.listed.swap(true, Ordering::Relaxed) {
            rustix::fs::seek(&self.fd, SeekFrom::Start(0))?;
        }
        let mut buffer = [MaybeUninit::<u8>::uninit(); 16 * 1024];
        let mut raw = RawDir::new(&self.fd, &mut buffer);
        let mut list = Vec::new();
        let mut cut = false;
        while let Some(entry) = raw.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if list.len() >= max {
                cut = true;
                break;
            }
            let name: Box<OsStr> = OsStr::from_bytes(name).into();
            let kind = match entry.file_type() {
                // Some file systems do not say in the listing.
                FileType::Unknown => self
                    .stat(Path::new(&*name))
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            let kind = match kind {
                FileType::Directory => EntryKind::Folder,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Special,
            };
            list.push(Entry { name, kind });
        }
        list.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Entries { list, cut })
    }

    /// Opens beneath this folder, following no link on the way.
    #[cfg(target_os = "linux")]
    fn open_beneath(&self, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..8 {
            match rustix::fs::openat2(&self.fd, inner, FLAGS | flags, Mode::empty(), resolve) {
                // Something on the way was renamed meanwhile; the kernel asks to try again.
                Err(Errno::AGAIN) => continue,
                // An old kernel, or a sandbox around us that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => return self.step_beneath(inner, flags),
                result => return result,
            }
        }
        Err(Errno::AGAIN)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.step_beneath(inner, flags)
    }

    /// The same one step at a time, each of which refuses a link.
    fn step_beneath(&self, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut names: Vec<OsString> = Vec::new();
        for component in inner.components() {
            match component {
                Component::Normal(name) => names.push(name.to_owned()),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
            }
        }
        let Some(last) = names.pop() else {
            return rustix::fs::openat(&self.fd, ".", FLAGS | flags, Mode::empty());
        };
        let mut at: Option<OwnedFd> = None;
        for name in names {
            at = Some(step(at.as_ref().unwrap_or(&self.fd), &name, PASS | OFlags::DIRECTORY)?);
        }
        step(at.as_ref().unwrap_or(&self.fd), &last, flags)
    }
}

/// Opens an entry that is not a link.
fn step(fd: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(fd, name, FLAGS | flags | OFlags::NOFOLLOW, Mode::empty());
    opened.map_err(|error| match error {
        // Opening a link as a folder without following it says "not a folder"; callers tell the two apart.
        Errno::NOTDIR => match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Errno::LOOP,
            _ => Errno::NOTDIR,
        },
        error => error,
    })
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
        for open in [Folder::open_beneath, Folder::step_beneath] {
            let open = |inner: &str| open(&folder, Path::new(inner), OFlags::RDONLY).map(|_| ());
            assert_eq!(open("deep/file"), Ok(()));
            assert_eq!(open("../secret"), Err(Errno::XDEV));
            assert_eq!(open("deep/../../secret"), Err(Errno::XDEV));
            assert_eq!(open("/etc/passwd"), Err(Errno::XDEV));
            assert_eq!(open("link"), Err(Errno::LOOP));
            assert_eq!(open("alias/file"), Err(Errno::LOOP));
            assert_eq!(open("deep/file/x"), Err(Errno::NOTDIR));
            assert_eq!(open("none"), Err(Errno::NOENT));
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
