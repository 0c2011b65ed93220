//! Where a skill really lies, opened so that no link can stand in for it.
//!
//! A skill was found at a path without links. Between then and now somebody may have put a link into that
//! path; so it is walked again from the top with links refused, and what is opened is what was found or
//! nothing.

use std::os::fd::OwnedFd;
use std::path::Path;

use crate::bundled::{BUNDLED, Bundled};
use crate::skill::{Found, Link};
use prowess_fs::{Errno, Folder, ReadError, Stat, read_marked};

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
    if found.is_outside() {
        return Err(Errno::LOOP);
    }
    Folder::open_resolved(&found.canonical_folder())
}

/// A file of the skill.
///
/// The whole path is opened in one step from the top, with links refused: nearly always that is all there is
/// to do. Without a link and without `..`, what lies below the folder by its path lies below it. Where that
/// fails, the folder is opened by itself, which tells why; so it is, too, where the kernel has to keep a path
/// inside.
pub(super) fn file(found: &Found, inner: &str) -> Result<(OwnedFd, Stat), PlaceError> {
    let stays_inside = !inner.starts_with('/') && inner.split('/').all(|segment| segment != "..");
    if stays_inside
        && !found.is_outside()
        && let Ok(opened) = Folder::file_resolved(&found.canonical_file(inner))
    {
        return Ok(opened);
    }
    let folder = folder(found).map_err(PlaceError::Folder)?;
    folder.file(Path::new(inner)).map_err(PlaceError::File)
}

/// What could not be opened.
pub(super) enum PlaceError {
    /// The skill's folder.
    Folder(Errno),
    /// The file in it.
    File(Errno),
}

impl PlaceError {
    fn errno(self) -> Errno {
        match self {
            Self::Folder(error) | Self::File(error) => error,
        }
    }
}

/// The skill's own file, which may be a known link.
pub(crate) fn skill_md(found: &Found) -> Result<(OwnedFd, Stat), Errno> {
    match found.link() {
        Some(Link { known: false, .. }) => Err(Errno::LOOP),
        Some(Link { target, folder: false, known: true }) => {
            let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
                return Err(Errno::NOENT);
            };
            Folder::open_resolved(parent)?.file(Path::new(name))
        }
        _ => file(found, found.file.as_str()).map_err(PlaceError::errno),
    }
}

/// The skill's own file as it is now.
pub(crate) struct SkillMd {
    /// All its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether they are those that the skill was found with.
    pub(crate) as_found: bool,
}

/// Reads the skill's own file.
pub(crate) fn read_skill_md(found: &Found) -> Result<SkillMd, ReadError> {
    if let Some(skill) = bundled(found) {
        return Ok(SkillMd { bytes: skill.skill_md().to_vec(), as_found: true });
    }
    let (file, stat) = skill_md(found)?;
    let (bytes, fingerprint) = read_marked(&file, &stat, FILE_MAX)?;
    Ok(SkillMd { bytes, as_found: found.settled && fingerprint == found.fingerprint })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_path_leads_out_of_the_folder_however_it_is_opened() {
        let world = tempfile::tempdir().unwrap();
        let skill = world.path().join("skills/a");
        fs::create_dir_all(skill.join("deep")).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: a\ndescription: D.\n---\nB\n").unwrap();
        fs::write(world.path().join("secret"), "s").unwrap();
        symlink("../../secret", skill.join("link")).unwrap();
        let policy = crate::Policy::default().with_roots([world.path().join("skills")]);
        let registry = crate::Registry::open(policy).unwrap();
        let snapshot = registry.snapshot();
        let found = snapshot.get("a").unwrap();
        let open = |inner: &str| file(found, inner).map(|_| ()).map_err(PlaceError::errno);
        let secret = world.path().canonicalize().unwrap().join("secret");
        assert_eq!(open("SKILL.md"), Ok(()));
        assert_eq!(open("../../secret"), Err(Errno::XDEV));
        assert_eq!(open("deep/../../../secret"), Err(Errno::XDEV));
        assert_eq!(open(secret.to_str().unwrap()), Err(Errno::XDEV));
        assert_eq!(open("link"), Err(Errno::LOOP));
        assert_eq!(open("none"), Err(Errno::NOENT));
        fs::rename(&skill, world.path().join("moved")).unwrap();
        symlink(world.path().join("moved"), &skill).unwrap();
        assert_eq!(open("SKILL.md"), Err(Errno::LOOP));
    }
}
