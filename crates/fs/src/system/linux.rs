//! Linux-specific calls: opening beneath a directory in one call, listing without copies, and exchanging renames.

use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, SeekFrom, openat2, renameat_with,
};
use rustix::io::Errno;

use super::{NameAt, OPEN_FLAGS, walk_beneath};

/// Flags for a directory that is only traversed. They do not require the permission to list it.
pub(crate) const TRAVERSE_FLAGS: OFlags = OFlags::PATH;

/// Opens a path beneath a directory without following symlinks.
pub(crate) fn open_beneath(dir: &OwnedFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..8 {
        match openat2(dir, inner, OPEN_FLAGS | flags, Mode::empty(), resolve) {
            // A directory on the way was renamed in the meantime; the kernel asks to try again.
            Err(Errno::AGAIN) => continue,
            // An old kernel, or a surrounding sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return walk_beneath(dir, inner, flags),
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

/// Passes the name and type of each entry of a directory to `visit`, which may stop the listing. A directory
/// that was listed before must be rewound, because a listing continues where the previous one ended.
pub(crate) fn list_dir(
    dir: &OwnedFd,
    was_listed: bool,
    visit: &mut dyn FnMut(&[u8], FileType) -> ControlFlow<()>,
) -> Result<(), Errno> {
    if was_listed {
        rustix::fs::seek(dir, SeekFrom::Start(0))?;
    }
    let mut buffer = [MaybeUninit::<u8>::uninit(); 16 * 1024];
    let mut raw = RawDir::new(dir, &mut buffer);
    while let Some(entry) = raw.next() {
        let entry = entry?;
        if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}

/// Renames without replacing an existing target. Returns `None` if the file system does not support it.
pub(crate) fn rename_noreplace(from: NameAt<'_>, to: NameAt<'_>) -> Option<Result<(), Errno>> {
    none_if_unsupported(renameat_with(from.dir, from.name, to.dir, to.name, RenameFlags::NOREPLACE))
}

/// Exchanges two names. Returns `None` if the file system does not support it.
pub(crate) fn exchange(from: NameAt<'_>, to: NameAt<'_>) -> Option<Result<(), Errno>> {
    none_if_unsupported(renameat_with(from.dir, from.name, to.dir, to.name, RenameFlags::EXCHANGE))
}

fn none_if_unsupported(result: Result<(), Errno>) -> Option<Result<(), Errno>> {
    match result {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        result => Some(result),
    }
}
