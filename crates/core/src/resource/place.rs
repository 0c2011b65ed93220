//! Where a skill really lies, opened so that no link can stand in for it.
//!
//! A skill was found at a path without links. Between then and now somebody may have put a link into that
//! path; so it is walked again from the top with links refused, and what is opened is what was found or
//! nothing.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::Stat;
use rustix::io::Errno;

use crate::bundled::{BUNDLED, Bundled};
use crate::files::{Folder, ReadError, read_whole};
use crate::scan::{Found, Link};

/// The hard cap on any file.
pub(crate) const FILE_MAX: u64 = 16 * 1024 * 1024;

/// The bundled skill that this is.
pub(crate) fn bundled(found: &Found) -> Option<&'static Bundled> {
    if !found.root().is_embedded() {
        return None;
    }
    BUNDLED.iter().find(|skill| skill.id == found.id())
}

/// The skill's folder.
pub(crate) fn folder(found: &Found) -> Result<Folder, Errno> {
    if found.link().is_some_and(|link| !link.known) {
        return Err(Errno::LOOP);
    }
    open(&found.canonical_folder())
}

/// A folder by a path that must not have links in it.
fn open(path: &Path) -> Result<Folder, Errno> {
    let Ok(inner) = path.strip_prefix("/") else { return Folder::open(path) };
    let top = Folder::open(Path::new("/"))?;
    if inner.as_os_str().is_empty() { Ok(top) } else { top.folder(inner) }
}

/// The skill's own file, which may be a known link.
pub(crate) fn skill_md(found: &Found) -> Result<(OwnedFd, Stat), Errno> {
    match found.link() {
        Some(Link { known: false, .. }) => Err(Errno::LOOP),
        Some(Link { target, folder: false, known: true }) => {
            let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
                return Err(Errno::NOENT);
            };
            open(parent)?.file(Path::new(name))
        }
        _ => folder(found)?.file(Path::new(found.file.as_str())),
    }
}

/// The bytes of the skill's own file, as they are now.
pub(crate) fn read_skill_md(found: &Found) -> Result<Vec<u8>, ReadError> {
    if let Some(skill) = bundled(found) {
        return Ok(skill.skill_md().to_vec());
    }
    let (file, stat) = skill_md(found)?;
    read_whole(&file, &stat, FILE_MAX)
}
