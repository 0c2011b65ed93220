//! The backend for any POSIX system: opens paths one component at a time, and emulates `RENAME_NOREPLACE` and
//! `RENAME_EXCHANGE` with hard links, new directories and plain renames.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, linkat, mkdirat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::{NameAt, walk_beneath};

/// Flags for a directory that is only traversed, on systems that can open one without the permission to list
/// it. POSIX calls this `O_SEARCH`.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(crate) const TRAVERSE_FLAGS: OFlags = OFlags::PATH;
/// `O_SEARCH`, for which `rustix` has no constant.
#[cfg(target_vendor = "apple")]
pub(crate) const TRAVERSE_FLAGS: OFlags = OFlags::from_bits_retain(0x4000_0000);
/// Traversing a directory requires the permission to list it.
#[cfg(not(any(target_os = "linux", target_os = "freebsd", target_vendor = "apple")))]
pub(crate) const TRAVERSE_FLAGS: OFlags = OFlags::RDONLY;

/// Opens a path beneath a directory without following symlinks.
pub(crate) fn open_beneath(dir: &OwnedFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    walk_beneath(dir, inner, flags)
}

/// Passes the name and type of each entry of a directory to `visit`, which may stop the listing. Each listing
/// opens the directory again, so that none has to be rewound.
pub(crate) fn list_dir(
    dir: &OwnedFd,
    _was_listed: bool,
    visit: &mut dyn FnMut(&[u8], FileType) -> ControlFlow<()>,
) -> Result<(), Errno> {
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}

/// Renames without replacing an existing target. Returns `None` if the file system does not support it.
///
/// Creating a hard link or a directory fails atomically if the target exists. Renaming a directory then
/// replaces the new empty one, and fails if another process put something into it in the meantime.
pub(crate) fn rename_noreplace(from: NameAt<'_>, to: NameAt<'_>) -> Option<Result<(), Errno>> {
    let is_dir = match is_dir(from) {
        Ok(is_dir) => is_dir,
        Err(error) => return Some(Err(error)),
    };
    if is_dir {
        if let Err(error) = mkdirat(to.dir, to.name, Mode::RWXU) {
            return Some(Err(error));
        }
        return Some(renameat(from.dir, from.name, to.dir, to.name).inspect_err(|_| {
            // If even this fails, an empty directory is left behind.
            let _ = unlinkat(to.dir, to.name, AtFlags::REMOVEDIR);
        }));
    }
    match linkat(from.dir, from.name, to.dir, to.name, AtFlags::empty()) {
        Ok(()) => Some(unlinkat(from.dir, from.name, AtFlags::empty())),
        Err(error) if means_no_hard_links(error) => None,
        Err(error) => Some(Err(error)),
    }
}

/// Exchanges two files. Returns `None` if the file system does not support it, or if `from` is a directory.
///
/// Links the file at `to` as `from.old`, renames `from` to `to`, then renames `from.old` to `from`. `to` always
/// exists; a file that another process puts there between the first two steps is lost.
pub(crate) fn exchange(from: NameAt<'_>, to: NameAt<'_>) -> Option<Result<(), Errno>> {
    match is_dir(from) {
        Ok(false) => {}
        Ok(true) => return None,
        Err(error) => return Some(Err(error)),
    }
    let mut aside = from.name.as_os_str().to_owned();
    aside.push(".old");
    let aside = PathBuf::from(aside);
    let link = || linkat(to.dir, to.name, from.dir, &aside, AtFlags::empty());
    let linked = match link() {
        // An earlier process was killed before the last step.
        Err(Errno::EXIST) => unlinkat(from.dir, &aside, AtFlags::empty()).and_then(|()| link()),
        linked => linked,
    };
    match linked {
        Ok(()) => {}
        Err(error) if means_no_hard_links(error) => return None,
        Err(error) => return Some(Err(error)),
    }
    let renamed = renameat(from.dir, from.name, to.dir, to.name);
    Some(match renamed {
        Ok(()) => renameat(from.dir, &aside, from.dir, from.name),
        Err(error) => {
            // The error is ignored, because a leftover second name does no harm.
            let _ = unlinkat(from.dir, &aside, AtFlags::empty());
            Err(error)
        }
    })
}

fn is_dir(entry: NameAt<'_>) -> Result<bool, Errno> {
    let stat = statat(entry.dir, entry.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Returns `true` for errors that mean the file system has no hard links, or the file cannot have one.
fn means_no_hard_links(error: Errno) -> bool {
    // Some of these have the same value on some systems.
    [Errno::PERM, Errno::MLINK, Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
}
