//! What only Linux has: opening beneath a folder in one call, listing without copies, and renames that exchange.

use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, SeekFrom, openat2, renameat_with,
};
use rustix::io::Errno;

use super::{At, FLAGS, walk_beneath};

/// For a folder that is only passed through. It takes no right to list it.
pub(crate) const PASS: OFlags = OFlags::PATH;

/// Opens beneath a folder, following no link on the way.
pub(crate) fn open_beneath(folder: &OwnedFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..8 {
        match openat2(folder, inner, FLAGS | flags, Mode::empty(), resolve) {
            // Something on the way was renamed meanwhile; the kernel asks to try again.
            Err(Errno::AGAIN) => continue,
            // An old kernel, or a sandbox around us that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return walk_beneath(folder, inner, flags),
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

/// Gives the name and type of each entry of a folder to `take`, which may end the listing. A folder that was listed
/// before has to be rewound, because a listing continues where the previous one ended.
pub(crate) fn list(
    folder: &OwnedFd,
    was_listed: bool,
    take: &mut dyn FnMut(&[u8], FileType) -> ControlFlow<()>,
) -> Result<(), Errno> {
    if was_listed {
        rustix::fs::seek(folder, SeekFrom::Start(0))?;
    }
    let mut buffer = [MaybeUninit::<u8>::uninit(); 16 * 1024];
    let mut raw = RawDir::new(folder, &mut buffer);
    while let Some(entry) = raw.next() {
        let entry = entry?;
        if take(entry.file_name().to_bytes(), entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}

/// Renames, and never onto something that is there; `None` where the file system cannot do that.
pub(crate) fn rename_new(from: At<'_>, to: At<'_>) -> Option<Result<(), Errno>> {
    known(renameat_with(from.folder, from.name, to.folder, to.name, RenameFlags::NOREPLACE))
}

/// Exchanges two names; `None` where the file system cannot do that.
pub(crate) fn exchange(from: At<'_>, to: At<'_>) -> Option<Result<(), Errno>> {
    known(renameat_with(from.folder, from.name, to.folder, to.name, RenameFlags::EXCHANGE))
}

fn known(result: Result<(), Errno>) -> Option<Result<(), Errno>> {
    match result {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        result => Some(result),
    }
}
