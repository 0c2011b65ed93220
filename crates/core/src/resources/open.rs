//! Opens a skill's directory and files so that no symlink can replace them.
//!
//! A skill was discovered at a path without symlinks. A symlink may have been added to that path since. The
//! path is therefore resolved again from the top without following symlinks: the result is the discovered file,
//! or an error.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use crate::file_listing::FileListing;
use crate::skill::{DiscoveredSkill, FilePaths, SkillLink};
use prowess_fs::{Dir, Errno, Fingerprint, ReadError, Stat, read_with_fingerprint, unix_now};

/// The hard limit on the size of any file.
pub(crate) const FILE_MAX: u64 = 16 * 1024 * 1024;

/// Opens the skill's directory.
pub(crate) fn open_dir(skill: &DiscoveredSkill) -> Result<Dir, Errno> {
    if skill.is_outside_known_dirs() {
        return Err(Errno::LOOP);
    }
    Dir::open_resolved(&skill.canonical_dir())
}

/// Opens a file of the skill.
///
/// The whole path is opened in one step from the top without following symlinks, which nearly always succeeds.
/// Without symlinks and `..`, the file is inside the directory. If this fails, or if the path may leave the
/// directory, the directory is opened first: the error then distinguishes the two, and the kernel keeps the
/// path inside.
pub(super) fn open_file(skill: &DiscoveredSkill, inner: &str) -> Result<(OwnedFd, Stat), OpenFileError> {
    let stays_inside = !inner.starts_with('/') && inner.split('/').all(|segment| segment != "..");
    if stays_inside
        && !skill.is_outside_known_dirs()
        && let Ok(opened) = Dir::open_file_resolved(&skill.canonical_file(inner))
    {
        return Ok(opened);
    }
    let dir = open_dir(skill).map_err(OpenFileError::Dir)?;
    dir.open_file(Path::new(inner)).map_err(OpenFileError::File)
}

/// The part of a path that could not be opened.
pub(super) enum OpenFileError {
    /// The skill's directory.
    Dir(Errno),
    /// The file in it.
    File(Errno),
}

impl OpenFileError {
    fn errno(self) -> Errno {
        match self {
            Self::Dir(error) | Self::File(error) => error,
        }
    }
}

/// Opens `SKILL.md`, which may be a symlink to a known directory.
pub(crate) fn open_skill_md(skill: &DiscoveredSkill) -> Result<(OwnedFd, Stat), Errno> {
    match skill.link() {
        Some(SkillLink { is_known: false, .. }) => Err(Errno::LOOP),
        Some(SkillLink { target, is_dir: false, is_known: true }) => {
            let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
                return Err(Errno::NOENT);
            };
            Dir::open_resolved(parent)?.open_file(Path::new(name))
        }
        _ if skill.is_command() => Dir::open_file_resolved(&skill.canonical_skill_md()),
        _ => open_file(skill, skill.file.as_str()).map_err(OpenFileError::errno),
    }
}

/// Returns the paths of the files in the skill's directory. Lists the directories again only after one of them
/// changed.
pub(crate) fn list_paths(skill: &DiscoveredSkill) -> Result<Arc<FilePaths>, Errno> {
    if let Some(cached) = skill.content.files() {
        return Ok(cached);
    }
    let now = unix_now();
    let files = Arc::new(FileListing::paths(&open_dir(skill)?));
    skill.content.keep_files(&files, now);
    Ok(files)
}

/// The current `SKILL.md` of a skill.
pub(crate) struct SkillMd {
    /// All its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether the file is unchanged since discovery.
    pub(crate) is_unchanged: bool,
}

/// Reads `SKILL.md`.
pub(crate) fn read_skill_md(skill: &DiscoveredSkill) -> Result<SkillMd, ReadError> {
    if let Some(bundled) = skill.bundled() {
        return Ok(SkillMd { bytes: bundled.skill_md().to_vec(), is_unchanged: true });
    }
    if let Some(bytes) = skill.content.skill_md()
        && Fingerprint::from_path(&skill.canonical_skill_md()) == Some(skill.fingerprint)
    {
        return Ok(SkillMd { bytes: bytes.to_vec(), is_unchanged: true });
    }
    let (file, stat) = open_skill_md(skill)?;
    let (bytes, fingerprint) = read_with_fingerprint(&file, &stat, FILE_MAX)?;
    let is_unchanged = skill.settled && fingerprint == skill.fingerprint;
    if is_unchanged {
        skill.content.keep_skill_md(&bytes);
    }
    Ok(SkillMd { bytes, is_unchanged })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_path_leaves_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let skill = dir.path().join("skills/a");
        fs::create_dir_all(skill.join("deep")).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: a\ndescription: D.\n---\nB\n").unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        symlink("../../secret", skill.join("link")).unwrap();
        let policy = crate::Policy::default().with_roots([dir.path().join("skills")]);
        let registry = crate::Registry::open(policy).unwrap();
        let snapshot = registry.snapshot();
        let found = snapshot.get("a").unwrap();
        let open = |inner: &str| open_file(found, inner).map(|_| ()).map_err(OpenFileError::errno);
        let secret = dir.path().canonicalize().unwrap().join("secret");
        assert_eq!(open("SKILL.md"), Ok(()));
        assert_eq!(open("../../secret"), Err(Errno::XDEV));
        assert_eq!(open("deep/../../../secret"), Err(Errno::XDEV));
        assert_eq!(open(secret.to_str().unwrap()), Err(Errno::XDEV));
        assert_eq!(open("link"), Err(Errno::LOOP));
        assert_eq!(open("none"), Err(Errno::NOENT));
        fs::rename(&skill, dir.path().join("moved")).unwrap();
        symlink(dir.path().join("moved"), &skill).unwrap();
        assert_eq!(open("SKILL.md"), Err(Errno::LOOP));
    }

    #[test]
    fn unchanged_content_is_kept_and_no_change_is_missed() {
        type Change = fn(&Path);
        const SOURCE: &str = "---\nname: a\ndescription: D.\n---\nBody.\n";
        let changes: [(&str, Change); 6] = [
            ("edited", |skill| fs::write(skill.join("SKILL.md"), SOURCE.replace("Body", "Text")).unwrap()),
            ("edited", |skill| {
                let path = skill.join("SKILL.md");
                let modified = fs::metadata(&path).unwrap().modified().unwrap();
                fs::write(&path, SOURCE.replace("Body", "Text")).unwrap();
                fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
            }),
            ("edited", |skill| {
                fs::rename(skill.join("SKILL.md"), skill.join("other.md")).unwrap();
                fs::write(skill.join("SKILL.md"), SOURCE.replace("Body", "Text")).unwrap();
            }),
            ("listed", |skill| fs::write(skill.join("references/new.md"), "").unwrap()),
            ("listed", |skill| fs::rename(skill.join("references/a.md"), skill.join("new.md")).unwrap()),
            ("symlink", |skill| {
                let moved = skill.with_file_name("moved");
                fs::rename(skill, &moved).unwrap();
                fs::create_dir(skill).unwrap();
                symlink(moved.join("SKILL.md"), skill.join("SKILL.md")).unwrap();
            }),
        ];
        let dir = tempfile::tempdir().unwrap();
        let roots: Vec<_> = (0..changes.len()).map(|number| dir.path().join(number.to_string())).collect();
        for root in &roots {
            fs::create_dir_all(root.join("a/references")).unwrap();
            fs::write(root.join("a/SKILL.md"), SOURCE).unwrap();
            fs::write(root.join("a/references/a.md"), "").unwrap();
        }
        // Only files and directories that are older than this are kept.
        std::thread::sleep(std::time::Duration::from_millis(3_100));
        for (root, (kind, change)) in roots.iter().zip(changes) {
            let policy = crate::Policy::default().with_roots([root.clone()]);
            let snapshot = crate::Registry::open(policy).unwrap().snapshot();
            let found = snapshot.get("a").unwrap();
            for _ in 0..2 {
                assert_eq!(read_skill_md(found).unwrap().bytes, SOURCE.as_bytes());
                assert_eq!(list_paths(found).unwrap().paths, ["SKILL.md", "references/a.md"]);
                assert!(found.content.skill_md().is_some() && found.content.files().is_some());
            }
            change(&root.join("a"));
            let text = read_skill_md(found).map(|file| String::from_utf8(file.bytes).unwrap());
            let paths = list_paths(found).map(|files| files.paths.clone());
            match kind {
                "edited" => assert!(text.unwrap().ends_with("Text.\n")),
                "listed" => assert!(paths.unwrap().iter().any(|path| path.ends_with("new.md"))),
                _ => assert!(text.is_err() && paths.unwrap().is_empty()),
            }
        }
    }
}
