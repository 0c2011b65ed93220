//! Visits every file of a skill's directory once, within bounds. Reports everything that it skips.

use std::path::{Path, PathBuf};

use crate::file_listing::is_git_path;
use prowess_fs::{Dir, EntryKind, SkipReason, WalkEvent, WalkLimits, describe_errno, read_at, walk};

/// The maximum number of files, and of their bytes in total.
const FILES_MAX: usize = 4_096;
const TOTAL_MAX: u64 = 64 * 1024 * 1024;
const DEPTH_MAX: usize = 16;

/// An entry of a directory tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VisitedEntry {
    /// A regular file.
    File {
        /// Whether the file is executable.
        executable: bool,
        /// The beginning of its contents.
        bytes: Vec<u8>,
    },
    /// A symlink and its target. It is not followed.
    Symlink(PathBuf),
    /// An entry that was not read, and the reason.
    Skipped(String),
}

/// Passes every entry below a directory to `take`, sorted by relative path, with at most `max` bytes of each
/// file. Does not follow symlinks or block on special files. Skips the `.git` directory, which is not part of a
/// skill.
///
/// ```
/// use prowess::{VisitedEntry, visit_files};
///
/// let dir = tempfile::tempdir().unwrap();
/// std::fs::write(dir.path().join("a.md"), "hello").unwrap();
/// let mut visited = Vec::new();
/// visit_files(dir.path(), 4, &mut |path, entry| visited.push((path.to_owned(), entry)));
/// assert_eq!(visited, [("a.md".to_owned(), VisitedEntry::File { executable: false, bytes: b"hell".to_vec() })]);
/// ```
pub fn visit_files(dir: &Path, max: u64, take: &mut dyn FnMut(&str, VisitedEntry)) {
    let mut reader = BoundedReader { max, files: 0, bytes: 0, take };
    let bounds = WalkLimits { depth: DEPTH_MAX, entries: 2 * FILES_MAX, enter: |path| !is_git_path(path) };
    match Dir::open(dir) {
        Ok(dir) => {
            // If the walk ended early, that was already reported.
            let _ended = walk(&dir, bounds, &mut |event| reader.visit(event));
        }
        Err(error) => reader.skip(Path::new("."), describe_errno(error)),
    }
}

/// A limit was reached; the rest is not read.
struct LimitReached;

struct BoundedReader<'t> {
    max: u64,
    files: usize,
    bytes: u64,
    take: &'t mut dyn FnMut(&str, VisitedEntry),
}

impl BoundedReader<'_> {
    fn visit(&mut self, event: WalkEvent<'_>) -> Result<(), LimitReached> {
        match event {
            WalkEvent::Entry { path, .. } if self.files >= FILES_MAX || self.bytes >= TOTAL_MAX => {
                self.skip(path, "the skill exceeds the size limit".to_owned());
                return Err(LimitReached);
            }
            WalkEvent::Entry { dir, name, path, kind: EntryKind::File } => {
                self.file(dir, name.as_ref(), path)
            }
            WalkEvent::Entry { dir, name, path, kind: EntryKind::Symlink } => {
                let target = std::fs::read_link(dir.path().join(name)).unwrap_or_default();
                (self.take)(&path.to_string_lossy(), VisitedEntry::Symlink(target));
            }
            WalkEvent::Entry { path, kind: EntryKind::Special | EntryKind::Dir, .. } => {
                self.skip(path, "not a regular file".to_owned());
            }
            WalkEvent::Skipped(path, SkipReason::Unreadable(error)) => self.skip(path, describe_errno(error)),
            WalkEvent::Skipped(path, SkipReason::TooDeep) => self.skip(path, "nested too deeply".to_owned()),
            WalkEvent::Skipped(path, SkipReason::TooManyEntries) => {
                self.skip(path, "too many entries".to_owned());
            }
        }
        Ok(())
    }

    fn file(&mut self, dir: &Dir, name: &Path, path: &Path) {
        self.files += 1;
        let (file, stat) = match dir.open_file(name) {
            Ok(opened) => opened,
            Err(error) => return self.skip(path, describe_errno(error)),
        };
        // It may have been replaced since it was listed.
        if !stat.is_file() {
            return self.skip(path, "not a regular file".to_owned());
        }
        let size = stat.size().min(self.max);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        match read_at(&file, &mut bytes, 0) {
            Ok(read) => bytes.truncate(read),
            Err(error) => return self.skip(path, describe_errno(error)),
        }
        self.bytes += bytes.len() as u64;
        let executable = stat.is_executable();
        (self.take)(&path.to_string_lossy(), VisitedEntry::File { executable, bytes });
    }

    fn skip(&mut self, path: &Path, reason: String) {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        (self.take)(&path.to_string_lossy(), VisitedEntry::Skipped(reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn symlinks_are_reported_and_special_files_do_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("deep")).unwrap();
        std::fs::create_dir_all(at(".git")).unwrap();
        std::fs::create_dir_all(at("deep/.git")).unwrap();
        std::fs::write(at("deep/.git/a.sh"), "a").unwrap();
        std::fs::write(at(".git/config"), "x").unwrap();
        std::fs::write(at("deep/b"), "b").unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let mut visited = Vec::new();
        visit_files(dir.path(), 10, &mut |path, entry| visited.push((path.to_owned(), entry)));
        assert_eq!(
            visited,
            [
                // Only the top-level `.git` is skipped: any other is served, run and hashed like the rest of
                // the skill.
                ("deep/.git/a.sh".to_owned(), VisitedEntry::File { executable: false, bytes: b"a".to_vec() }),
                ("deep/b".to_owned(), VisitedEntry::File { executable: false, bytes: b"b".to_vec() }),
                ("link".to_owned(), VisitedEntry::Symlink("/etc/passwd".into())),
                ("pipe".to_owned(), VisitedEntry::Skipped("not a regular file".to_owned())),
            ]
        );
    }
}
