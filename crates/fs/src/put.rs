//! Putting a file that was written elsewhere into a folder, so that no link can lead it astray; and the renames for that.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, renameat, unlinkat};
use rustix::io::Errno;

use super::Folder;
use crate::system::{self, At};

/// Renames a file or folder, and fails with [`AlreadyExists`](io::ErrorKind::AlreadyExists) where something is at `to`.
/// File systems that cannot do that in one step rename without it.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match system::rename_new(at(from), at(to)) {
        Some(renamed) => Ok(renamed?),
        None => std::fs::rename(from, to),
    }
}

/// Exchanges what is at two paths, so that there is no moment without either. Returns `false`, with nothing changed, where
/// the system cannot do that.
pub fn exchange(from: &Path, to: &Path) -> io::Result<bool> {
    match system::exchange(at(from), at(to)) {
        Some(exchanged) => Ok(exchanged.map(|()| true)?),
        None => Ok(false),
    }
}

/// What a path leads to, as the system resolves it.
fn at(name: &Path) -> At<'_> {
    At { folder: CWD, name }
}

/// What is in the place that a file is put into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaces {
    /// Nothing: whatever came there meanwhile stays.
    Nothing,
    /// A file, which takes the place of the one that is put, so that it can be looked at and put back.
    File,
}

/// What became of what was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It lies where the new file lay.
    Exchanged,
    /// It is gone, or there was nothing.
    Gone,
}

impl Folder {
    /// Renames a file on the same file system to a path beneath this folder. No link is followed on the way there.
    pub fn put(&self, staged: &Path, inner: &Path, replaces: Replaces) -> Result<Put, Errno> {
        let name = inner.file_name().ok_or(Errno::INVAL)?;
        let parent = self.parent_of(inner)?;
        let into = parent.as_ref().unwrap_or(self);
        let (from, to) = (at(staged), At { folder: into.fd().as_fd(), name: Path::new(name) });
        let plainly = || renameat(from.folder, from.name, to.folder, to.name).map(|()| Put::Gone);
        match replaces {
            Replaces::Nothing => match system::rename_new(from, to) {
                Some(renamed) => renamed.map(|()| Put::Gone),
                None if into.stat(to.name).is_ok() => Err(Errno::EXIST),
                None => plainly(),
            },
            Replaces::File => match system::exchange(from, to) {
                Some(exchanged) => exchanged.map(|()| Put::Exchanged),
                None => plainly(),
            },
        }
    }

    /// Makes the folders on the way to a path beneath this one; gives those that were not there, the outermost first.
    pub fn make_folders(&self, inner: &Path) -> Result<Vec<PathBuf>, Errno> {
        let mut made = Vec::new();
        let mut above: Vec<&Path> =
            inner.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        above.reverse();
        for path in above {
            let result = self.make_folder(path).map(|new| made.extend(new.then(|| path.to_owned())));
            result.and_then(|()| self.folder(path)).inspect_err(|_| self.remove_folders(&made))?;
        }
        Ok(made)
    }

    /// Takes back what [`make_folders`](Self::make_folders) made; one that is not empty stays.
    pub fn remove_folders(&self, made: &[PathBuf]) {
        for path in made.iter().rev() {
            let Ok(parent) = self.parent_of(path) else { return };
            let name = path.file_name().unwrap_or_default();
            // An empty folder in a skill is nothing that anybody sees.
            let _ = unlinkat(parent.as_ref().unwrap_or(self).fd(), name, AtFlags::REMOVEDIR);
        }
    }

    /// Whether it was not there before.
    fn make_folder(&self, inner: &Path) -> Result<bool, Errno> {
        let parent = self.parent_of(inner)?;
        let name = inner.file_name().ok_or(Errno::INVAL)?;
        match rustix::fs::mkdirat(parent.as_ref().unwrap_or(self).fd(), name, Mode::from_raw_mode(0o755)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The folder that a path lies in; none where that is this one.
    fn parent_of(&self, inner: &Path) -> Result<Option<Self>, Errno> {
        match inner.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => self.folder(parent).map(Some),
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
    fn a_file_is_put_in_exchanged_and_never_led_astray() {
        let world = tempfile::tempdir().unwrap();
        let path = |inner: &str| world.path().join(inner);
        fs::create_dir_all(path("skill")).unwrap();
        fs::create_dir_all(path("outside")).unwrap();
        symlink("../outside", path("skill/link")).unwrap();
        symlink("../outside/file", path("skill/file-link")).unwrap();
        let folder = Folder::open(&path("skill")).unwrap();
        let staged = |text: &str| {
            fs::write(path("staged"), text).unwrap();
            path("staged")
        };
        let put = |text: &str, inner: &str, replaces| folder.put(&staged(text), Path::new(inner), replaces);
        assert_eq!(put("1", "a", Replaces::Nothing), Ok(Put::Gone));
        assert_eq!(put("2", "a", Replaces::Nothing), Err(Errno::EXIST));
        assert_eq!(put("3", "a", Replaces::File), Ok(Put::Exchanged));
        assert_eq!(
            (fs::read(path("skill/a")).unwrap(), fs::read(path("staged")).unwrap()),
            (b"3".into(), b"1".into())
        );
        assert_eq!(put("4", "none", Replaces::File), Err(Errno::NOENT));
        assert_eq!(put("5", "link/x", Replaces::Nothing), Err(Errno::LOOP));
        assert_eq!(put("6", "../x", Replaces::Nothing), Err(Errno::XDEV));
        assert_eq!(folder.make_folders(Path::new("link/deep/x")).unwrap_err(), Errno::LOOP);
        assert_eq!(fs::read_dir(path("outside")).unwrap().count(), 0);
        let made = folder.make_folders(Path::new("b/c/x")).unwrap();
        assert_eq!(made, [PathBuf::from("b"), "b/c".into()]);
        assert_eq!(put("7", "b/c/x", Replaces::Nothing), Ok(Put::Gone));
        folder.remove_folders(&made);
        assert!(path("skill/b/c/x").exists());
        folder.remove_folders(&folder.make_folders(Path::new("d/e/x")).unwrap());
        assert!(!path("skill/d").exists());
    }

    #[test]
    fn a_rename_never_replaces_what_is_there() {
        let world = tempfile::tempdir().unwrap();
        let path = |name: &str| world.path().join(name);
        fs::create_dir_all(path("folder/inner")).unwrap();
        fs::write(path("file"), "f").unwrap();
        fs::create_dir(path("empty")).unwrap();
        fs::write(path("other"), "o").unwrap();
        symlink("nowhere", path("link")).unwrap();
        for from in ["folder", "file"] {
            for to in ["empty", "other", "link"] {
                let refused = rename_new(&path(from), &path(to)).unwrap_err();
                assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists, "{from} to {to}");
            }
            rename_new(&path(from), &path("new")).unwrap();
            assert!(!path(from).exists());
            rename_new(&path("new"), &path(from)).unwrap();
            let refused = rename_new(&path("none"), &path("new")).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::NotFound);
        }
        assert!(path("folder/inner").is_dir() && path("empty").is_dir() && path("link").is_symlink());
        assert_eq!(
            (fs::read(path("file")).unwrap(), fs::read(path("other")).unwrap()),
            (b"f".into(), b"o".into())
        );
    }

    #[test]
    fn an_exchange_keeps_both() {
        let world = tempfile::tempdir().unwrap();
        let path = |name: &str| world.path().join(name);
        fs::write(path("a"), "a").unwrap();
        fs::write(path("b"), "b").unwrap();
        assert!(exchange(&path("a"), &path("b")).unwrap());
        assert_eq!((fs::read(path("a")).unwrap(), fs::read(path("b")).unwrap()), (b"b".into(), b"a".into()));
        assert_eq!(exchange(&path("a"), &path("c")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(world.path()).unwrap().count(), 2);
        fs::create_dir_all(path("x/inner")).unwrap();
        fs::create_dir(path("y")).unwrap();
        // Not every system can exchange folders; those that cannot say so, and change nothing.
        let exchanged = exchange(&path("x"), &path("y")).unwrap();
        assert_eq!((path("x/inner").exists(), path("y/inner").exists()), (!exchanged, exchanged));
        symlink("nowhere", path("link")).unwrap();
        let exchanged = exchange(&path("a"), &path("link")).unwrap();
        assert_eq!((path("a").is_symlink(), path("link").is_symlink()), (exchanged, !exchanged));
        let folder = if path("x/inner").exists() { path("x") } else { path("y") };
        let exchanged = exchange(&folder, &path("b")).unwrap();
        assert_eq!((folder.is_dir(), path("b").is_dir()), (!exchanged, exchanged));
    }
}
