//! Detects changes to a skill's files without reading them.

use std::path::Path;

use super::error::ReadResourceError;
use super::open_skill_dir;
use super::skill_files::{DEPTH_MAX, FILES_MAX, skill_too_large};
use crate::file_listing::is_git_path;
use crate::skill::{ResourceUnavailable, Skill, SkillLink};
use prowess_fs::{EntryKind, Fingerprint, WalkEvent, WalkLimits, unix_now, walk};

/// The fingerprints of all files of a skill. If two stamps are equal and the earlier one [is
/// settled](SkillStamp::is_settled), no file has changed.
#[derive(Debug, Clone)]
pub struct SkillStamp {
    files: Box<[(Box<Path>, Fingerprint)]>,
    settled: bool,
}

impl PartialEq for SkillStamp {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl SkillStamp {
    /// Returns `true` if all files were old enough for their timestamps to be reliable.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Returns `true` if a file changed since the earlier stamp, or exists in only one of the two.
    pub fn differs_at(&self, earlier: &Self, path: &str) -> bool {
        self.fingerprint(path) != earlier.fingerprint(path)
    }

    fn fingerprint(&self, path: &str) -> Option<&Fingerprint> {
        let mut files = self.files.iter();
        files.find(|(file_path, _)| **file_path == *Path::new(path)).map(|(_, fingerprint)| fingerprint)
    }

    /// Returns the number of files and their total size in bytes.
    pub fn size(&self) -> (usize, u64) {
        (self.files.len(), self.files.iter().map(|(_, fingerprint)| fingerprint.size()).sum())
    }
}

/// Reads the fingerprints of all files that [`read_skill_files`](super::read_skill_files()) reads.
///
/// ```
/// use prowess::{Policy, Registry, resources};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let snapshot = Registry::open(Policy::default())?.snapshot();
/// let skill = snapshot.get("hello-world").ok_or("missing bundled skill")?;
/// assert_eq!(resources::stamp_skill(skill)?, resources::stamp_skill(skill)?);
/// # Ok(())
/// # }
/// ```
pub fn stamp_skill(skill: &Skill) -> Result<SkillStamp, ReadResourceError> {
    if let Some(unavailable) = ResourceUnavailable::for_use(skill) {
        return Err(unavailable.into());
    }
    if skill.root().is_embedded() {
        let files = skill.bundled().map(|skill| skill.files).unwrap_or_default();
        let stamp_file = |(path, bytes): &(&str, &[u8])| {
            (Path::new(path).into(), Fingerprint::synthetic(bytes.len() as u64))
        };
        return Ok(SkillStamp { files: files.iter().map(stamp_file).collect(), settled: true });
    }
    // The target of the symlink is outside the directory.
    let mut settled = !matches!(skill.link(), Some(SkillLink { is_dir: false, .. }));
    let (mut files, now) = (Vec::new(), unix_now());
    let bounds = WalkLimits { depth: DEPTH_MAX, entries: 2 * FILES_MAX, enter: |path| !is_git_path(path) };
    walk(&open_skill_dir(skill)?, bounds, &mut |event| match event {
        WalkEvent::Entry { path, .. } if is_git_path(path) => Ok(()),
        WalkEvent::Entry { dir, name, path, kind: EntryKind::File } => {
            let display_path = path.to_string_lossy();
            let stat = dir
                .stat(Path::new(name))
                .map_err(|error| ReadResourceError::from_errno(&display_path, error))?;
            let fingerprint = Fingerprint::from_stat(&stat);
            settled &= fingerprint.is_settled(now);
            files.push((path.into(), fingerprint));
            if files.len() > FILES_MAX { Err(skill_too_large(&display_path)) } else { Ok(()) }
        }
        WalkEvent::Entry { .. } => Ok(()),
        WalkEvent::Skipped(path, _) => Err(skill_too_large(&path.to_string_lossy())),
    })?;
    Ok(SkillStamp { files: files.into(), settled })
}
