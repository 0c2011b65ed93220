//! Whether anything of a skill changed, without reading a file.

use std::path::Path;

use super::error::AccessError;
use super::material::{DEPTH_MAX, FILES_MAX, too_large};
use super::open_folder;
use crate::contents::is_gits;
use crate::skill::{Closed, Link, Skill};
use prowess_fs::{Bounds, EntryKind, Fingerprint, Met, beneath, now};

/// What the file system said of all files of a skill. Where two are equal, and the earlier one [is
/// settled](Stamp::is_settled), every file has the bytes it had.
#[derive(Debug, Clone)]
pub struct Stamp {
    files: Box<[(Box<Path>, Fingerprint)]>,
    settled: bool,
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl Stamp {
    /// Whether all files were old enough for their times to be believed.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether a file is another now than it was earlier, or is there only in one of the two.
    pub fn differs_at(&self, earlier: &Self, path: &str) -> bool {
        self.print(path) != earlier.print(path)
    }

    fn print(&self, path: &str) -> Option<&Fingerprint> {
        let mut files = self.files.iter();
        files.find(|(known, _)| **known == *Path::new(path)).map(|(_, print)| print)
    }

    /// How many files there are, and how many bytes they have together.
    pub fn size(&self) -> (usize, u64) {
        (self.files.len(), self.files.iter().map(|(_, print)| print.size()).sum())
    }
}

/// Looks at all files of a skill, as [`material`](super::material()) would read them.
///
/// ```
/// use prowess::{Policy, Registry, resource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let snapshot = Registry::open(Policy::default())?.snapshot();
/// let skill = snapshot.get("hello-world").ok_or("it is bundled")?;
/// assert_eq!(resource::stamp(skill)?, resource::stamp(skill)?);
/// # Ok(())
/// # }
/// ```
pub fn stamp(skill: &Skill) -> Result<Stamp, AccessError> {
    if let Some(closed) = Closed::of(skill) {
        return Err(closed.into());
    }
    if skill.root().is_embedded() {
        let files = super::place::bundled(skill).map(|skill| skill.files).unwrap_or_default();
        let of =
            |(path, bytes): &(&str, &[u8])| (Path::new(path).into(), Fingerprint::none(bytes.len() as u64));
        return Ok(Stamp { files: files.iter().map(of).collect(), settled: true });
    }
    // What a link leads to lies outside the folder.
    let mut settled = !matches!(skill.link(), Some(Link { folder: false, .. }));
    let (mut files, now) = (Vec::new(), now());
    let bounds = Bounds { depth: DEPTH_MAX, entries: 2 * FILES_MAX, enter: |path| !is_gits(path) };
    beneath(&open_folder(skill)?, bounds, &mut |met| match met {
        Met::Entry { path, .. } if is_gits(path) => Ok(()),
        Met::Entry { folder, name, path, kind: EntryKind::File } => {
            let shown = path.to_string_lossy();
            let stat = folder.stat(Path::new(name)).map_err(|error| AccessError::os(&shown, error))?;
            let print = Fingerprint::of(&stat);
            settled &= print.is_settled(now);
            files.push((path.into(), print));
            if files.len() > FILES_MAX { Err(too_large(&shown)) } else { Ok(()) }
        }
        Met::Entry { .. } => Ok(()),
        Met::Closed(path, _) => Err(too_large(&path.to_string_lossy())),
    })?;
    Ok(Stamp { files: files.into(), settled })
}
