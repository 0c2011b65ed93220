//! Everything that lies beneath a folder, each entry once and in order.

use std::ffi::OsStr;
use std::path::Path;

use rustix::io::Errno;

use super::{EntryKind, Folder};

/// How far to go.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// How deep folders may lie.
    pub depth: usize,
    /// How many entries there may be in all.
    pub entries: usize,
    /// Whether to go into a folder with this path from where the way began.
    pub enter: fn(&Path) -> bool,
}

/// What is met on the way.
#[derive(Debug)]
pub enum Met<'w> {
    /// Anything but a folder.
    Entry {
        /// The folder that it lies in.
        folder: &'w Folder,
        /// Its name there.
        name: &'w OsStr,
        /// Its path from where the way began.
        path: &'w Path,
        /// What it is.
        kind: EntryKind,
    },
    /// A folder that was not gone through, or not to its end.
    Closed(&'w Path, Why),
}

/// Why a folder was not gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The system refused.
    Unreadable(Errno),
    /// It lies too deep.
    Deep,
    /// There are more entries than may be.
    Many,
}

/// Gives everything beneath a folder to `take`, which may end it. No link is followed, and nothing is left out unsaid.
pub fn beneath<E>(
    folder: &Folder,
    bounds: Bounds,
    take: &mut dyn FnMut(Met<'_>) -> Result<(), E>,
) -> Result<(), E> {
    Way { left: bounds.entries, bounds, take }.go(folder, Path::new(""), 0)
}

struct Way<'t, E> {
    bounds: Bounds,
    left: usize,
    take: &'t mut dyn FnMut(Met<'_>) -> Result<(), E>,
}

impl<E> Way<'_, E> {
    fn go(&mut self, folder: &Folder, below: &Path, depth: usize) -> Result<(), E> {
        let found = match folder.entries(self.left) {
            Ok(found) => found,
            Err(error) => return (self.take)(Met::Closed(below, Why::Unreadable(error))),
        };
        self.left = self.left.saturating_sub(found.list.len());
        for entry in found.list {
            let (name, path) = (&*entry.name, below.join(&*entry.name));
            match entry.kind {
                EntryKind::Folder if !(self.bounds.enter)(&path) => {}
                EntryKind::Folder if depth >= self.bounds.depth => {
                    (self.take)(Met::Closed(&path, Why::Deep))?;
                }
                EntryKind::Folder => match folder.folder(Path::new(name)) {
                    Ok(inner) => self.go(&inner, &path, depth + 1)?,
                    Err(error) => (self.take)(Met::Closed(&path, Why::Unreadable(error)))?,
                },
                kind @ (EntryKind::File | EntryKind::Link | EntryKind::Special) => {
                    (self.take)(Met::Entry { folder, name, path: &path, kind })?;
                }
            }
        }
        if found.cut {
            (self.take)(Met::Closed(below, Why::Many))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn told(root: &Path, bounds: Bounds) -> Vec<String> {
        let mut told = Vec::new();
        let folder = Folder::open(root).unwrap();
        let walked: Result<(), ()> = beneath(&folder, bounds, &mut |met| {
            told.push(match met {
                Met::Entry { path, kind, .. } => format!("{} {kind:?}", path.display()),
                Met::Closed(path, why) => format!("{} {why:?}", path.display()),
            });
            Ok(())
        });
        walked.unwrap();
        told
    }

    #[test]
    fn every_bound_is_told() {
        let world = tempfile::tempdir().unwrap();
        let at = |inner: &str| world.path().join(inner);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::create_dir_all(at(".git")).unwrap();
        for file in ["a/b/c/deep", "a/x", "y", ".git/config"] {
            fs::write(at(file), "").unwrap();
        }
        let all = Bounds { depth: 3, entries: 100, enter: |_| true };
        assert_eq!(told(world.path(), all), [".git/config File", "a/b/c/deep File", "a/x File", "y File"]);
        let fewer = Bounds { depth: 1, enter: |path| path != ".git", ..all };
        assert_eq!(told(world.path(), fewer), ["a/b Deep", "a/x File", "y File"]);
        let few = Bounds { entries: 4, ..all };
        assert!(told(world.path(), few).iter().any(|line| line.ends_with(" Many")));
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let world = tempfile::tempdir().unwrap();
        fs::write(world.path().join("a"), "").unwrap();
        fs::write(world.path().join("b"), "").unwrap();
        let folder = Folder::open(world.path()).unwrap();
        let bounds = Bounds { depth: 1, entries: 9, enter: |_| true };
        let mut count = 0;
        let ended = beneath(&folder, bounds, &mut |_| {
            count += 1;
            Err("enough")
        });
        assert_eq!((ended, count), (Err("enough"), 1));
    }
}
