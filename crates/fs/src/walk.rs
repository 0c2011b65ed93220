//! Walking the entries of a directory tree, each once and in order.

use std::ffi::OsStr;
use std::path::Path;

use rustix::io::Errno;

use super::{Dir, EntryKind};

/// The limits of a walk.
#[derive(Debug, Clone, Copy)]
pub struct WalkLimits {
    /// The maximum depth of directories.
    pub depth: usize,
    /// The maximum number of entries in total.
    pub entries: usize,
    /// Returns `true` for directories to enter. The path is relative to the start of the walk.
    pub enter: fn(&Path) -> bool,
}

/// What a walk reports.
#[derive(Debug)]
pub enum WalkEvent<'w> {
    /// An entry other than a directory.
    Entry {
        /// The directory that contains the entry.
        dir: &'w Dir,
        /// The name in that directory.
        name: &'w OsStr,
        /// The path relative to the start of the walk.
        path: &'w Path,
        /// The kind of the entry.
        kind: EntryKind,
    },
    /// A directory that was skipped, or not walked to its end.
    Skipped(&'w Path, SkipReason),
}

/// Why a directory was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// The system refused access.
    Unreadable(Errno),
    /// The directory is nested too deeply.
    TooDeep,
    /// There are too many entries.
    TooManyEntries,
}

/// Passes every entry below a directory to `visit`, which may stop the walk with an error. Symlinks are not
/// followed, and skipped directories are reported.
pub fn walk<E>(
    dir: &Dir,
    limits: WalkLimits,
    visit: &mut dyn FnMut(WalkEvent<'_>) -> Result<(), E>,
) -> Result<(), E> {
    Walker { remaining: limits.entries, limits, visit }.walk_dir(dir, Path::new(""), 0)
}

struct Walker<'t, E> {
    limits: WalkLimits,
    remaining: usize,
    visit: &'t mut dyn FnMut(WalkEvent<'_>) -> Result<(), E>,
}

impl<E> Walker<'_, E> {
    fn walk_dir(&mut self, dir: &Dir, prefix: &Path, depth: usize) -> Result<(), E> {
        let listing = match dir.entries(self.remaining) {
            Ok(listing) => listing,
            Err(error) => return (self.visit)(WalkEvent::Skipped(prefix, SkipReason::Unreadable(error))),
        };
        self.remaining = self.remaining.saturating_sub(listing.entries.len());
        for entry in listing.entries {
            let (name, path) = (&*entry.name, prefix.join(&*entry.name));
            match entry.kind {
                EntryKind::Dir if !(self.limits.enter)(&path) => {}
                EntryKind::Dir if depth >= self.limits.depth => {
                    (self.visit)(WalkEvent::Skipped(&path, SkipReason::TooDeep))?;
                }
                EntryKind::Dir => match dir.open_dir(Path::new(name)) {
                    Ok(inner) => self.walk_dir(&inner, &path, depth + 1)?,
                    Err(error) => (self.visit)(WalkEvent::Skipped(&path, SkipReason::Unreadable(error)))?,
                },
                kind @ (EntryKind::File | EntryKind::Symlink | EntryKind::Special) => {
                    (self.visit)(WalkEvent::Entry { dir, name, path: &path, kind })?;
                }
            }
        }
        if listing.truncated {
            (self.visit)(WalkEvent::Skipped(prefix, SkipReason::TooManyEntries))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn events(root: &Path, limits: WalkLimits) -> Vec<String> {
        let mut events = Vec::new();
        let dir = Dir::open(root).unwrap();
        let result: Result<(), ()> = walk(&dir, limits, &mut |event| {
            events.push(match event {
                WalkEvent::Entry { path, kind, .. } => format!("{} {kind:?}", path.display()),
                WalkEvent::Skipped(path, reason) => format!("{} {reason:?}", path.display()),
            });
            Ok(())
        });
        result.unwrap();
        events
    }

    #[test]
    fn every_limit_is_reported() {
        let temp = tempfile::tempdir().unwrap();
        let at = |inner: &str| temp.path().join(inner);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::create_dir_all(at(".git")).unwrap();
        for file in ["a/b/c/deep", "a/x", "y", ".git/config"] {
            fs::write(at(file), "").unwrap();
        }
        let all = WalkLimits { depth: 3, entries: 100, enter: |_| true };
        assert_eq!(events(temp.path(), all), [".git/config File", "a/b/c/deep File", "a/x File", "y File"]);
        let fewer = WalkLimits { depth: 1, enter: |path| path != ".git", ..all };
        assert_eq!(events(temp.path(), fewer), ["a/b TooDeep", "a/x File", "y File"]);
        let few = WalkLimits { entries: 4, ..all };
        assert!(events(temp.path(), few).iter().any(|line| line.ends_with(" TooManyEntries")));
    }

    #[test]
    fn the_visitor_can_stop_the_walk() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("a"), "").unwrap();
        fs::write(temp.path().join("b"), "").unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        let limits = WalkLimits { depth: 1, entries: 9, enter: |_| true };
        let mut count = 0;
        let ended = walk(&dir, limits, &mut |_| {
            count += 1;
            Err("enough")
        });
        assert_eq!((ended, count), (Err("enough"), 1));
    }
}
