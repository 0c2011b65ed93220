//! Every file of a skill's folder, read once: contained, bounded, and with nothing left out unsaid.

use std::path::{Path, PathBuf};

use crate::contents::is_gits;
use prowess_fs::{Bounds, EntryKind, Folder, Met, Why, beneath, fill, words};

/// The most files, and the most bytes of all of them together.
const FILES_MAX: usize = 4_096;
const TOTAL_MAX: u64 = 64 * 1024 * 1024;
const DEPTH_MAX: usize = 16;

/// What lies in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Each {
    /// A regular file, with as much of it as was asked for.
    File {
        /// Whether it may be executed.
        executable: bool,
        /// Its beginning.
        bytes: Vec<u8>,
    },
    /// A link, with where it leads. It is not followed.
    Link(PathBuf),
    /// Something that was not read, and why.
    Unread(String),
}

/// Gives every entry beneath a folder to `take`, sorted by path, which is the one from the folder, with at most `max` bytes
/// of each file. No link is followed and nothing is waited for. Git's own folder is passed over: it is no part of a skill.
///
/// ```
/// use prowess::{Each, each_file};
///
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("a.md"), "hello").unwrap();
/// let mut found = Vec::new();
/// each_file(folder.path(), 4, &mut |path, each| found.push((path.to_owned(), each)));
/// assert_eq!(found, [("a.md".to_owned(), Each::File { executable: false, bytes: b"hell".to_vec() })]);
/// ```
pub fn each_file(folder: &Path, max: u64, take: &mut dyn FnMut(&str, Each)) {
    let mut reading = Reading { max, files: 0, bytes: 0, take };
    let bounds = Bounds { depth: DEPTH_MAX, entries: 2 * FILES_MAX, enter: |path| !is_gits(path) };
    match Folder::open(folder) {
        Ok(folder) => {
            // That it ended early has been told by then.
            let _ended = beneath(&folder, bounds, &mut |met| reading.met(met));
        }
        Err(error) => reading.unread(Path::new("."), words(error)),
    }
}

/// There is more than is ever read.
struct Enough;

struct Reading<'t> {
    max: u64,
    files: usize,
    bytes: u64,
    take: &'t mut dyn FnMut(&str, Each),
}

impl Reading<'_> {
    fn met(&mut self, met: Met<'_>) -> Result<(), Enough> {
        match met {
            Met::Entry { path, .. } if self.files >= FILES_MAX || self.bytes >= TOTAL_MAX => {
                self.unread(path, "there is more than is ever read of one skill".to_owned());
                return Err(Enough);
            }
            Met::Entry { folder, name, path, kind: EntryKind::File } => {
                self.file(folder, name.as_ref(), path)
            }
            Met::Entry { folder, name, path, kind: EntryKind::Link } => {
                let target = std::fs::read_link(folder.path().join(name)).unwrap_or_default();
                (self.take)(&path.to_string_lossy(), Each::Link(target));
            }
            Met::Entry { path, kind: EntryKind::Special | EntryKind::Folder, .. } => {
                self.unread(path, "it is not a regular file".to_owned());
            }
            Met::Closed(path, Why::Unreadable(error)) => self.unread(path, words(error)),
            Met::Closed(path, Why::Deep) => self.unread(path, "it lies too deep".to_owned()),
            Met::Closed(path, Why::Many) => {
                self.unread(path, "it has more entries than are looked at".to_owned());
            }
        }
        Ok(())
    }

    fn file(&mut self, folder: &Folder, name: &Path, path: &Path) {
        self.files += 1;
        let (file, stat) = match folder.file(name) {
            Ok(opened) => opened,
            Err(error) => return self.unread(path, words(error)),
        };
        // It may have become something else since it was listed.
        if !stat.is_file() {
            return self.unread(path, "it is not a regular file".to_owned());
        }
        let size = stat.size().min(self.max);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        match fill(&file, &mut bytes, 0) {
            Ok(read) => bytes.truncate(read),
            Err(error) => return self.unread(path, words(error)),
        }
        self.bytes += bytes.len() as u64;
        let executable = stat.is_executable();
        (self.take)(&path.to_string_lossy(), Each::File { executable, bytes });
    }

    fn unread(&mut self, path: &Path, why: String) {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        (self.take)(&path.to_string_lossy(), Each::Unread(why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_told_and_not_followed_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("deep")).unwrap();
        std::fs::create_dir_all(at(".git")).unwrap();
        std::fs::create_dir_all(at("deep/.git")).unwrap();
        std::fs::write(at("deep/.git/a.sh"), "a").unwrap();
        std::fs::write(at(".git/config"), "x").unwrap();
        std::fs::write(at("deep/b"), "b").unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let mut found = Vec::new();
        each_file(folder.path(), 10, &mut |path, each| found.push((path.to_owned(), each)));
        assert_eq!(
            found,
            [
                // Only the folder at the top is git's: any other is served, run and hashed like the rest of the skill.
                ("deep/.git/a.sh".to_owned(), Each::File { executable: false, bytes: b"a".to_vec() }),
                ("deep/b".to_owned(), Each::File { executable: false, bytes: b"b".to_vec() }),
                ("link".to_owned(), Each::Link("/etc/passwd".into())),
                ("pipe".to_owned(), Each::Unread("it is not a regular file".to_owned())),
            ]
        );
    }
}
