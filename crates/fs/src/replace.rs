//! Replacing a file that must not have changed since it was read.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Dir;
use crate::fingerprint::{Fingerprint, Stat};
use crate::rename::{ExpectedTarget, MoveOutcome};

/// Why a file was not replaced. It is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// Another program changed it since it was read.
    #[error("the file has changed since it was read")]
    Changed,
    /// The new content cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl From<Errno> for ReplaceError {
    fn from(error: Errno) -> Self {
        Self::Write(error.into())
    }
}

impl Dir {
    /// Replaces a file in this directory atomically, if it still has the fingerprint of when it was read. The new file
    /// has the permissions and the owner of the old one. A symlink is neither followed nor replaced.
    pub fn replace_file(
        &self,
        name: &Path,
        expected: &Fingerprint,
        bytes: &[u8],
    ) -> Result<(), ReplaceError> {
        let current = self.stat(name)?;
        if !current.is_file() || Fingerprint::from_stat(&current) != *expected {
            return Err(ReplaceError::Changed);
        }
        let staged = PathBuf::from(format!(".{}.prowess-new", name.to_string_lossy()));
        // The file exists only if a process was killed.
        let _ = self.remove_file(&staged);
        let replaced =
            self.stage(&staged, &current, bytes).and_then(|()| self.exchange_staged(&staged, name, expected));
        // After a success, it is the old file, or gone.
        let _ = self.remove_file(&staged);
        replaced
    }

    fn stage(&self, staged: &Path, current: &Stat, bytes: &[u8]) -> Result<(), ReplaceError> {
        let mut file = self.create_file(staged, 0o600)?;
        let owner = current.owner();
        if Stat::from_fd(&file)?.owner() != owner {
            fchown(&file, Some(owner.0), Some(owner.1))?;
        }
        file.set_permissions(Permissions::from_mode(current.permissions()))?;
        file.write_all(bytes)?;
        Ok(file.sync_all()?)
    }

    fn exchange_staged(
        &self,
        staged: &Path,
        name: &Path,
        expected: &Fingerprint,
    ) -> Result<(), ReplaceError> {
        match self.move_from(self, staged, name, ExpectedTarget::File)? {
            MoveOutcome::Replaced => Ok(()),
            MoveOutcome::Exchanged => {
                let is_expected = self
                    .stat(staged)
                    .is_ok_and(|previous| Fingerprint::from_stat(&previous).is_same_content(expected));
                if is_expected {
                    return Ok(());
                }
                // The file changed while the new one was written.
                self.move_from(self, staged, name, ExpectedTarget::File)?;
                Err(ReplaceError::Changed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{create_symlink, read_with_fingerprint};

    fn read(dir: &Dir) -> Fingerprint {
        let (file, stat) = dir.open_file(Path::new("a.md")).unwrap();
        read_with_fingerprint(&file, &stat, 1_000).unwrap().1
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.md");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        dir.replace_file(Path::new("a.md"), &read(&dir), b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_changed_file_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.md");
        fs::write(&path, "old").unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        let fingerprint = read(&dir);
        fs::write(&path, "edited").unwrap();
        let error = dir.replace_file(Path::new("a.md"), &fingerprint, b"new").unwrap_err();
        assert!(matches!(error, ReplaceError::Changed), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"edited");
    }

    #[test]
    fn a_symlink_is_not_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.md");
        fs::write(&path, "old").unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        let fingerprint = read(&dir);
        fs::rename(&path, temp.path().join("b.md")).unwrap();
        create_symlink(Path::new("b.md"), &path).unwrap();
        assert!(dir.replace_file(Path::new("a.md"), &fingerprint, b"new").is_err());
        assert_eq!(fs::read(temp.path().join("b.md")).unwrap(), b"old");
    }
}
