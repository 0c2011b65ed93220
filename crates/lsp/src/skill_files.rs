//! The files of a skill. Everything is opened beneath the directory of the skill, and no symlink is followed.

use std::path::{Path, PathBuf};

use prowess_fs::{Dir, EntryKind, Errno, FileType, WalkEvent, WalkLimits, read_whole, walk};

/// The maximum number of files that are listed.
const FILES_MAX: usize = 1_000;
const ENTRIES_MAX: usize = 4_000;
const DEPTH_MAX: usize = 6;

/// What is known about a path inside a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathState {
    /// A regular file of this size.
    File(u64),
    /// A directory.
    Dir,
    /// There is nothing.
    Missing,
    /// A symlink on the way, a special file, or something that cannot be opened.
    Other,
}

/// Returns what a path inside a skill is.
pub(crate) fn path_state(dir: &Path, inner: &Path) -> PathState {
    let opened = Dir::open(dir).and_then(|dir| dir.open_file(inner));
    match opened {
        Ok((_, stat)) if stat.is_file() => PathState::File(stat.size()),
        Ok((_, stat)) if stat.kind() == FileType::Directory => PathState::Dir,
        Err(Errno::NOENT) => PathState::Missing,
        Ok(_) | Err(_) => PathState::Other,
    }
}

/// Returns the paths of the regular files of a skill, sorted, with `/` between components. Paths that are not Unicode are
/// left out.
pub(crate) fn list_files(dir: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let Ok(dir) = Dir::open(dir) else { return files };
    let enter = |path: &Path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        !prowess::check::is_skipped_dir(name)
    };
    let limits = WalkLimits { depth: DEPTH_MAX, entries: ENTRIES_MAX, enter };
    // The walk ends early once there are enough files.
    let _ended = walk(&dir, limits, &mut |event| {
        if let WalkEvent::Entry { path, kind: EntryKind::File, .. } = event
            && let Some(path) = path.to_str()
        {
            files.push(path.to_owned());
        }
        if files.len() < FILES_MAX { Ok(()) } else { Err(()) }
    });
    files
}

/// Reads a text file of a skill; `None` if it is larger than `max` bytes, not text, or not a regular file.
pub(crate) fn read_text(dir: &Path, inner: &Path, max: u64) -> Option<String> {
    let (file, stat) = Dir::open(dir).ok()?.open_file(inner).ok()?;
    String::from_utf8(read_whole(&file, &stat, max).ok()?).ok()
}

/// Returns the directory of the skill that contains a file, at most eight levels above it.
pub(crate) fn skill_dir_of(path: &Path) -> Option<PathBuf> {
    let has_skill = |dir: &&Path| path_state(dir, Path::new("SKILL.md")) != PathState::Missing;
    path.ancestors().skip(1).take(8).filter(|dir| dir.parent().is_some()).find(has_skill).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_and_opened_inside_of_the_skill_only() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("pdf");
        std::fs::create_dir_all(dir.join("references/.git")).unwrap();
        for file in ["pdf/SKILL.md", "pdf/references/a.md", "pdf/references/.git/x", "secret"] {
            std::fs::write(temp.path().join(file), "text").unwrap();
        }
        prowess_fs::create_symlink(Path::new("../secret"), &dir.join("link")).unwrap();
        prowess_fs::create_symlink(Path::new(".."), &dir.join("up")).unwrap();
        assert_eq!(list_files(&dir), ["SKILL.md", "references/a.md"]);
        let state = |inner: &str| path_state(&dir, Path::new(inner));
        assert_eq!(state("references/a.md"), PathState::File(4));
        assert_eq!(state("references"), PathState::Dir);
        assert_eq!(state("none"), PathState::Missing);
        for outside in ["link", "up/secret", "../secret", "/etc/passwd"] {
            assert_eq!(state(outside), PathState::Other, "{outside}");
            assert_eq!(read_text(&dir, Path::new(outside), 100), None);
        }
        assert_eq!(read_text(&dir, Path::new("references/a.md"), 3), None);
        assert_eq!(skill_dir_of(&dir.join("references/a.md")), Some(dir.clone()));
        assert_eq!(list_files(&temp.path().join("none")), Vec::<String>::new());
    }
}
