//! What systems differ in, behind the same few functions: what Linux has, or what any POSIX system has.
//!
//! `--cfg prowess_portable` chooses the second on Linux, too, so that the tests can run on it.

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

pub(crate) use backend::{PASS, exchange, list, open_beneath, rename_new};

/// Nothing that is opened becomes the terminal of this process, is inherited, or waits for another process.
pub(crate) const FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// The longest path that Linux opens. One step at a time there would be no limit, and the answer has to be the same.
const PATH_MAX: usize = 4096;

/// A name in an open folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'n> {
    pub(crate) folder: BorrowedFd<'n>,
    pub(crate) name: &'n Path,
}

/// Opens beneath a folder one step at a time, each of which refuses a link.
pub(crate) fn walk_beneath(folder: &OwnedFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
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
        return rustix::fs::openat(folder, ".", FLAGS | flags, Mode::empty());
    };
    let mut at: Option<OwnedFd> = None;
    for name in names {
        at = Some(step(at.as_ref().unwrap_or(folder), &name, PASS | OFlags::DIRECTORY)?);
    }
    step(at.as_ref().unwrap_or(folder), &last, flags)
}

/// Opens an entry that is not a link.
fn step(fd: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(fd, name, FLAGS | flags | OFlags::NOFOLLOW, Mode::empty());
    opened.map_err(|error| match error {
        // Opening a link as a folder without following it says "not a folder", and some systems say of any link that
        // there are too many links; callers tell the two apart.
        Errno::NOTDIR | Errno::MLINK => match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Errno::LOOP,
            _ => error,
        },
        error => error,
    })
}
