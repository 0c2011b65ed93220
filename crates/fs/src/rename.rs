//! Moving a staged file into a directory without following symlinks, and the renames this needs.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, renameat, unlinkat};
use rustix::io::Errno;

use super::Dir;
use crate::system::{self, NameAt};

/// Renames a file or directory, and fails with [`AlreadyExists`](io::ErrorKind::AlreadyExists) if `to` exists.
/// File systems without an atomic operation for this rename without the check.
pub fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    match system::rename_noreplace(in_cwd(from), in_cwd(to)) {
        Some(renamed) => Ok(renamed?),
        None => std::fs::rename(from, to),
    }
}

/// Exchanges two paths atomically. Returns `false` without any change if the system does not support it.
pub fn exchange(from: &Path, to: &Path) -> io::Result<bool> {
    match system::exchange(in_cwd(from), in_cwd(to)) {
        Some(exchanged) => Ok(exchanged.map(|()| true)?),
        None => Ok(false),
    }
}

/// A path relative to the current directory, resolved by the system.
fn in_cwd(name: &Path) -> NameAt<'_> {
    NameAt { dir: CWD, name }
}

/// What is expected at the target of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedTarget {
    /// Nothing: an existing file is kept, and the move fails.
    Absent,
    /// A file, which is exchanged with the new one so that it can be inspected and restored.
    File,
}

/// What happened to the previous target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveOutcome {
    /// It is now at the path of the staged file.
    Exchanged,
    /// It was replaced, or did not exist.
    Replaced,
}

impl Dir {
    /// Renames a file on the same file system to a path beneath this directory. No symlink is followed on the
    /// way.
    pub fn move_in(
        &self,
        staged: &Path,
        inner: &Path,
        expected: ExpectedTarget,
    ) -> Result<MoveOutcome, Errno> {
        self.move_named(in_cwd(staged), inner, expected)
    }

    /// Renames a file beneath `source` to a path beneath this directory, on the same file system. No symlink is followed
    /// in either directory, also if their own paths lead elsewhere by now.
    pub fn move_from(
        &self,
        source: &Self,
        staged: &Path,
        inner: &Path,
        expected: ExpectedTarget,
    ) -> Result<MoveOutcome, Errno> {
        let name = staged.file_name().ok_or(Errno::INVAL)?;
        let parent = source.open_parent(staged)?;
        let from = parent.as_ref().unwrap_or(source);
        self.move_named(NameAt { dir: from.fd().as_fd(), name: Path::new(name) }, inner, expected)
    }

    fn move_named(
        &self,
        from: NameAt<'_>,
        inner: &Path,
        expected: ExpectedTarget,
    ) -> Result<MoveOutcome, Errno> {
        let name = inner.file_name().ok_or(Errno::INVAL)?;
        let parent = self.open_parent(inner)?;
        let into = parent.as_ref().unwrap_or(self);
        let to = NameAt { dir: into.fd().as_fd(), name: Path::new(name) };
        let rename = || renameat(from.dir, from.name, to.dir, to.name).map(|()| MoveOutcome::Replaced);
        match expected {
            ExpectedTarget::Absent => match system::rename_noreplace(from, to) {
                Some(renamed) => renamed.map(|()| MoveOutcome::Replaced),
                None if into.stat(to.name).is_ok() => Err(Errno::EXIST),
                None => rename(),
            },
            ExpectedTarget::File => match system::exchange(from, to) {
                Some(exchanged) => exchanged.map(|()| MoveOutcome::Exchanged),
                None => rename(),
            },
        }
    }

    /// Creates the parent directories of a path beneath this one. Returns the new ones, the outermost first.
    pub fn create_parents(&self, inner: &Path) -> Result<Vec<PathBuf>, Errno> {
        let mut created = Vec::new();
        let mut parents: Vec<&Path> =
            inner.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        parents.reverse();
        for path in parents {
            let result = self.create_dir(path).map(|new| created.extend(new.then(|| path.to_owned())));
            result.and_then(|()| self.open_dir(path)).inspect_err(|_| self.remove_created(&created))?;
        }
        Ok(created)
    }

    /// Removes directories created by [`create_parents`](Self::create_parents), unless they are not empty.
    pub fn remove_created(&self, created: &[PathBuf]) {
        for path in created.iter().rev() {
            // Errors are ignored, because an empty directory in a skill does no harm.
            let _ = self.remove_empty_dir(path);
        }
    }

    /// Removes a file beneath this directory. No symlink is followed on the way.
    pub fn remove_file(&self, inner: &Path) -> Result<(), Errno> {
        self.unlink(inner, AtFlags::empty())
    }

    /// Removes an empty directory beneath this one. No symlink is followed on the way.
    pub fn remove_empty_dir(&self, inner: &Path) -> Result<(), Errno> {
        self.unlink(inner, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, inner: &Path, flags: AtFlags) -> Result<(), Errno> {
        let name = inner.file_name().ok_or(Errno::INVAL)?;
        let parent = self.open_parent(inner)?;
        unlinkat(parent.as_ref().unwrap_or(self).fd(), name, flags)
    }

    /// Creates a directory. Returns `false` if it exists.
    fn create_dir(&self, inner: &Path) -> Result<bool, Errno> {
        let parent = self.open_parent(inner)?;
        let name = inner.file_name().ok_or(Errno::INVAL)?;
        match rustix::fs::mkdirat(parent.as_ref().unwrap_or(self).fd(), name, Mode::from_raw_mode(0o755)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Opens the parent directory of a path, or returns `None` if that is this directory.
    fn open_parent(&self, inner: &Path) -> Result<Option<Self>, Errno> {
        match inner.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => self.open_dir(parent).map(Some),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_are_moved_and_exchanged_but_never_through_a_symlink() {
        let temp = tempfile::tempdir().unwrap();
        let path = |inner: &str| temp.path().join(inner);
        fs::create_dir_all(path("skill")).unwrap();
        fs::create_dir_all(path("outside")).unwrap();
        symlink("../outside", path("skill/link")).unwrap();
        symlink("../outside/file", path("skill/file-link")).unwrap();
        let dir = Dir::open(&path("skill")).unwrap();
        let staged = |text: &str| {
            fs::write(path("staged"), text).unwrap();
            path("staged")
        };
        let move_in =
            |text: &str, inner: &str, expected| dir.move_in(&staged(text), Path::new(inner), expected);
        assert_eq!(move_in("1", "a", ExpectedTarget::Absent), Ok(MoveOutcome::Replaced));
        assert_eq!(move_in("2", "a", ExpectedTarget::Absent), Err(Errno::EXIST));
        assert_eq!(move_in("3", "a", ExpectedTarget::File), Ok(MoveOutcome::Exchanged));
        assert_eq!(
            (fs::read(path("skill/a")).unwrap(), fs::read(path("staged")).unwrap()),
            (b"3".into(), b"1".into())
        );
        assert_eq!(move_in("4", "none", ExpectedTarget::File), Err(Errno::NOENT));
        assert_eq!(move_in("5", "link/x", ExpectedTarget::Absent), Err(Errno::LOOP));
        assert_eq!(move_in("6", "../x", ExpectedTarget::Absent), Err(Errno::XDEV));
        assert_eq!(dir.create_parents(Path::new("link/deep/x")).unwrap_err(), Errno::LOOP);
        assert_eq!(fs::read_dir(path("outside")).unwrap().count(), 0);
        let created = dir.create_parents(Path::new("b/c/x")).unwrap();
        assert_eq!(created, [PathBuf::from("b"), "b/c".into()]);
        assert_eq!(move_in("7", "b/c/x", ExpectedTarget::Absent), Ok(MoveOutcome::Replaced));
        dir.remove_created(&created);
        assert!(path("skill/b/c/x").exists());
        dir.remove_created(&dir.create_parents(Path::new("d/e/x")).unwrap());
        assert!(!path("skill/d").exists());
    }

    #[test]
    fn a_rename_never_replaces_the_target() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name);
        fs::create_dir_all(path("folder/inner")).unwrap();
        fs::write(path("file"), "f").unwrap();
        fs::create_dir(path("empty")).unwrap();
        fs::write(path("other"), "o").unwrap();
        symlink("nowhere", path("link")).unwrap();
        for from in ["folder", "file"] {
            for to in ["empty", "other", "link"] {
                let error = rename_noreplace(&path(from), &path(to)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{from} to {to}");
            }
            rename_noreplace(&path(from), &path("new")).unwrap();
            assert!(!path(from).exists());
            rename_noreplace(&path("new"), &path(from)).unwrap();
            let error = rename_noreplace(&path("none"), &path("new")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
        assert!(path("folder/inner").is_dir() && path("empty").is_dir() && path("link").is_symlink());
        assert_eq!(
            (fs::read(path("file")).unwrap(), fs::read(path("other")).unwrap()),
            (b"f".into(), b"o".into())
        );
    }

    #[test]
    fn an_exchange_keeps_both_files() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name);
        fs::write(path("a"), "a").unwrap();
        fs::write(path("b"), "b").unwrap();
        assert!(exchange(&path("a"), &path("b")).unwrap());
        assert_eq!((fs::read(path("a")).unwrap(), fs::read(path("b")).unwrap()), (b"b".into(), b"a".into()));
        assert_eq!(exchange(&path("a"), &path("c")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 2);
        fs::create_dir_all(path("x/inner")).unwrap();
        fs::create_dir(path("y")).unwrap();
        // Not every system can exchange directories; those that cannot return `false` and change nothing.
        let exchanged = exchange(&path("x"), &path("y")).unwrap();
        assert_eq!((path("x/inner").exists(), path("y/inner").exists()), (!exchanged, exchanged));
        symlink("nowhere", path("link")).unwrap();
        let exchanged = exchange(&path("a"), &path("link")).unwrap();
        assert_eq!((path("a").is_symlink(), path("link").is_symlink()), (exchanged, !exchanged));
        let dir = if path("x/inner").exists() { path("x") } else { path("y") };
        let exchanged = exchange(&dir, &path("b")).unwrap();
        assert_eq!((dir.is_dir(), path("b").is_dir()), (!exchanged, exchanged));
    }
}
