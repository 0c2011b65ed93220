//! Putting a file that was written elsewhere into a folder, so that no link can lead it astray.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, RenameFlags, renameat_with, unlinkat};
use rustix::io::Errno;

use super::Folder;

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
        let renamed = |flags| renameat_with(CWD, staged, into.fd(), name, flags);
        let unknown = |error| matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP);
        match replaces {
            Replaces::Nothing => match renamed(RenameFlags::NOREPLACE) {
                Err(error) if unknown(error) => match into.stat(Path::new(name)) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(_) => renamed(RenameFlags::empty()).map(|()| Put::Gone),
                },
                renamed => renamed.map(|()| Put::Gone),
            },
            Replaces::File => match renamed(RenameFlags::EXCHANGE) {
                Ok(()) => Ok(Put::Exchanged),
                Err(error) if unknown(error) => renamed(RenameFlags::empty()).map(|()| Put::Gone),
                Err(error) => Err(error),
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
}
