//! Staging beneath an open directory that another user may own: nothing is found by a path that can be replaced.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Gid, Mode, OFlags, RawMode, Uid};
use rustix::io::Errno;

use super::Dir;

impl Dir {
    /// Creates a directory in this one that only the user can enter, and opens it. Fails with [`Errno::PERM`] if another
    /// user replaced it in the meantime.
    pub fn create_private_dir(&self, name: &Path) -> Result<Self, Errno> {
        rustix::fs::mkdirat(self.fd(), name, Mode::RWXU)?;
        let dir = self.open_dir(name)?;
        let stat = dir.stat_self()?;
        match stat.owner().0 == crate::current_uid() && stat.permissions() & 0o077 == 0 {
            true => Ok(dir),
            false => Err(Errno::PERM),
        }
    }

    /// Creates a file in this directory with these permissions, reduced by the umask. Fails if the name exists.
    #[allow(clippy::unnecessary_cast)]
    pub fn create_file(&self, name: &Path, permissions: u32) -> Result<File, Errno> {
        if name.components().count() != 1 {
            return Err(Errno::INVAL);
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The type differs from system to system.
        let mode = Mode::from_raw_mode((permissions & 0o777) as RawMode);
        rustix::fs::openat(self.fd(), name, flags, mode).map(File::from)
    }

    /// Returns the target of a symlink in this directory.
    pub fn read_link(&self, name: &Path) -> Result<PathBuf, Errno> {
        let target = rustix::fs::readlinkat(self.fd(), name, Vec::new())?;
        Ok(crate::path_from_bytes(target.as_bytes()).to_owned())
    }

    /// Returns the metadata of an entry beneath this directory. No symlink is followed.
    pub fn stat_beneath(&self, inner: &Path) -> Result<crate::Stat, Errno> {
        let name = inner.file_name().ok_or(Errno::INVAL)?;
        match inner.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => self.open_dir(parent)?.stat(Path::new(name)),
            None => self.stat(Path::new(name)),
        }
    }

    /// Sets the user and the group that own the directory.
    pub fn set_owner(&self, (user, group): (u32, u32)) -> Result<(), Errno> {
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        rustix::fs::fchown(self.fd(), Some(user), Some(group))
    }

    /// Locks the directory against other processes that do the same, until it is closed. Returns `false` if one of them
    /// holds the lock. File systems without locks are not locked.
    pub fn try_lock(&self) -> io::Result<bool> {
        match rustix::fs::flock(self.fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::BADF | Errno::INVAL) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Releases the lock of [`try_lock`](Self::try_lock).
    pub fn unlock(&self) {
        // A lock that was not taken cannot be released.
        let _ = rustix::fs::flock(self.fd(), FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExpectedTarget;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn staging_stays_in_the_directory_that_was_opened() {
        let temp = tempfile::tempdir().unwrap();
        let path = |inner: &str| temp.path().join(inner);
        for dir in ["work", "outside"] {
            fs::create_dir(path(dir)).unwrap();
        }
        let work = Dir::open(&path("work")).unwrap();
        let staging = work.create_private_dir(Path::new("staging")).unwrap();
        assert_eq!(work.create_private_dir(Path::new("staging")).unwrap_err(), Errno::EXIST);
        // Both paths lead elsewhere now.
        fs::rename(path("work/staging"), path("work/moved")).unwrap();
        symlink(path("outside"), path("work/staging")).unwrap();
        fs::rename(path("work"), path("other")).unwrap();
        symlink(path("outside"), path("work")).unwrap();
        io::Write::write_all(&mut staging.create_file(Path::new("0"), 0o644).unwrap(), b"new").unwrap();
        assert_eq!(staging.create_file(Path::new("0"), 0o644).unwrap_err(), Errno::EXIST);
        assert_eq!(staging.create_file(Path::new("../x"), 0o644).unwrap_err(), Errno::INVAL);
        work.move_from(&staging, Path::new("0"), Path::new("file"), ExpectedTarget::Absent).unwrap();
        assert_eq!(fs::read(path("other/file")).unwrap(), b"new");
        assert_eq!(fs::read_dir(path("outside")).unwrap().count(), 0);
        let moved = |from: &str, to: &str| {
            work.move_from(&work, Path::new(from), Path::new(to), ExpectedTarget::Absent)
        };
        assert_eq!(moved("staging/x", "y"), Err(Errno::LOOP));
        assert_eq!(moved("file", "staging/y"), Err(Errno::LOOP));
        assert_eq!(work.read_link(Path::new("staging")).unwrap(), path("outside"));
        assert_eq!(work.stat_beneath(Path::new("staging/x")).unwrap_err(), Errno::LOOP);
        assert!(work.stat_beneath(Path::new("file")).unwrap().is_file());
    }

    #[test]
    fn a_directory_is_locked_by_one_handle() {
        let temp = tempfile::tempdir().unwrap();
        let open = || Dir::open(temp.path()).unwrap();
        let (first, second) = (open(), open());
        assert!(first.try_lock().unwrap() && !second.try_lock().unwrap());
        first.unlock();
        assert!(second.try_lock().unwrap());
        drop(second);
        assert!(first.try_lock().unwrap());
    }
}
