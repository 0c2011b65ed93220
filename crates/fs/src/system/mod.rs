//! The operations that differ between systems: a Linux backend and one for any POSIX system.
//!
//! `--cfg prowess_portable` selects the second one on Linux, too, so that tests can cover it.

#[cfg(all(target_os = "linux", not(prowess_portable)))]
mod linux;
#[cfg(any(not(target_os = "linux"), prowess_portable))]
mod portable;

use std::ffi::{OsStr, OsString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

#[cfg(all(target_os = "linux", not(prowess_portable)))]
use linux as backend;
#[cfg(any(not(target_os = "linux"), prowess_portable))]
use portable as backend;

pub(crate) use backend::{TRAVERSE_FLAGS, exchange, list_dir, open_beneath, rename_noreplace};

/// Flags for every open: the file never becomes the controlling terminal, is not inherited, and does not block.
pub(crate) const OPEN_FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// The maximum path length on Linux. Component by component there would be no limit, but both backends must
/// agree.
const PATH_MAX: usize = 4096;

/// A name in an open directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameAt<'n> {
    pub(crate) dir: BorrowedFd<'n>,
    pub(crate) name: &'n Path,
}

/// Opens a path beneath a directory component by component, refusing symlinks.
pub(crate) fn walk_beneath(dir: &OwnedFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    if inner.as_os_str().len() >= PATH_MAX {
        return Err(Errno::NAMETOOLONG);
    }
    let mut names: Vec<OsString> = Vec::new();
    for component in inner.components() {
        match component {
            Component::Normal(name) => names.push(name.to_owned()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
        }
    }
    let Some(last) = names.pop() else {
        return rustix::fs::openat(dir, ".", OPEN_FLAGS | flags, Mode::empty());
    };
    let mut current: Option<OwnedFd> = None;
    for name in names {
        current =
            Some(open_component(current.as_ref().unwrap_or(dir), &name, TRAVERSE_FLAGS | OFlags::DIRECTORY)?);
    }
    open_component(current.as_ref().unwrap_or(dir), &last, flags)
}

/// Opens an entry that is not a symlink.
fn open_component(fd: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(fd, name, OPEN_FLAGS | flags | OFlags::NOFOLLOW, Mode::empty());
    opened.map_err(|error| match error {
        // For a symlink opened as a directory, the system reports ENOTDIR, and some systems report EMLINK for
        // any symlink; map both to ELOOP.
        Errno::NOTDIR | Errno::MLINK => match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Errno::LOOP,
            _ => error,
        },
        error => error,
    })
}
