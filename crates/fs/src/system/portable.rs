//! The same on any POSIX system: one step at a time, and renames made of links and plain renames.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, linkat, mkdirat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::{At, walk_beneath};

/// For a folder that is only passed through, where the system can open one without the right to list it: POSIX calls that
/// `O_SEARCH`.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(crate) const PASS: OFlags = OFlags::PATH;
/// `O_SEARCH`, for which `rustix` has no name.
#[cfg(target_vendor = "apple")]
pub(crate) const PASS: OFlags = OFlags::from_bits_retain(0x4000_0000);
/// The right to list a folder is needed to pass through it.
#[cfg(not(any(target_os = "linux", target_os = "freebsd", target_vendor = "apple")))]
pub(crate) const PASS: OFlags = OFlags::RDONLY;

/// Opens beneath a folder, following no link on the way.
pub(crate) fn open_beneath(folder: &OwnedFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    walk_beneath(folder, inner, flags)
}

/// Gives the name and type of each entry of a folder to `take`, which may end the listing. Each listing opens the folder
/// again, so that none has to be rewound.
pub(crate) fn list(
    folder: &OwnedFd,
    _was_listed: bool,
    take: &mut dyn FnMut(&[u8], FileType) -> ControlFlow<()>,
) -> Result<(), Errno> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if take(entry.file_name().to_bytes(), entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}

/// Renames, and never onto something that is there; `None` where the file system cannot do that.
///
/// A hard link, and a new folder, are made in one step that fails where something is. A rename takes the place of an empty
/// folder, and fails where somebody put something into it meanwhile.
pub(crate) fn rename_new(from: At<'_>, to: At<'_>) -> Option<Result<(), Errno>> {
    let is_folder = match is_folder(from) {
        Ok(is_folder) => is_folder,
        Err(error) => return Some(Err(error)),
    };
    if is_folder {
        if let Err(error) = mkdirat(to.folder, to.name, Mode::RWXU) {
            return Some(Err(error));
        }
        return Some(renameat(from.folder, from.name, to.folder, to.name).inspect_err(|_| {
            // An empty folder is left where even that fails.
            let _ = unlinkat(to.folder, to.name, AtFlags::REMOVEDIR);
        }));
    }
    match linkat(from.folder, from.name, to.folder, to.name, AtFlags::empty()) {
        Ok(()) => Some(unlinkat(from.folder, from.name, AtFlags::empty())),
        Err(error) if has_no_links(error) => None,
        Err(error) => Some(Err(error)),
    }
}

/// Exchanges two files; `None` where the file system cannot do that, or where one of them is a folder.
///
/// The old file gets a second name beside the new one, which then takes its place: there is no moment without a file. What
/// a third process writes to `to` between the two steps is lost.
pub(crate) fn exchange(from: At<'_>, to: At<'_>) -> Option<Result<(), Errno>> {
    match is_folder(from) {
        Ok(false) => {}
        Ok(true) => return None,
        Err(error) => return Some(Err(error)),
    }
    let mut aside = from.name.as_os_str().to_owned();
    aside.push(".old");
    let aside = PathBuf::from(aside);
    let link = || linkat(to.folder, to.name, from.folder, &aside, AtFlags::empty());
    let linked = match link() {
        // A process was killed between the steps.
        Err(Errno::EXIST) => unlinkat(from.folder, &aside, AtFlags::empty()).and_then(|()| link()),
        linked => linked,
    };
    match linked {
        Ok(()) => {}
        Err(error) if has_no_links(error) => return None,
        Err(error) => return Some(Err(error)),
    }
    let put = renameat(from.folder, from.name, to.folder, to.name);
    Some(match put {
        Ok(()) => renameat(from.folder, &aside, from.folder, from.name),
        Err(error) => {
            // The second name is of no use to anyone; that it cannot be removed changes nothing.
            let _ = unlinkat(from.folder, &aside, AtFlags::empty());
            Err(error)
        }
    })
}

fn is_folder(at: At<'_>) -> Result<bool, Errno> {
    let stat = statat(at.folder, at.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// What systems say of file systems without hard links, and of what cannot have one.
fn has_no_links(error: Errno) -> bool {
    // Some of these are the same number on some systems.
    [Errno::PERM, Errno::MLINK, Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
}
