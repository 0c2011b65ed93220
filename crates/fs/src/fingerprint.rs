//! What the file system says of a file, and whether it changed by that.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType};
use rustix::io::Errno;

/// What the file system says of a file or folder.
#[derive(Debug, Clone, Copy)]
pub struct Stat(pub(crate) rustix::fs::Stat);

// The types of these fields differ from system to system.
#[allow(clippy::unnecessary_cast)]
impl Stat {
    /// Of an open file.
    pub fn of(file: &impl AsFd) -> Result<Self, Errno> {
        rustix::fs::fstat(file).map(Self)
    }

    /// Of what is at a path. A link is not followed.
    pub fn at(path: &Path) -> Result<Self, Errno> {
        rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map(Self)
    }

    /// What it is.
    pub fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.0.st_mode)
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or_default()
    }

    /// Who may do what with it, as the lower twelve bits of a POSIX mode.
    pub fn permissions(&self) -> u32 {
        self.0.st_mode as u32 & 0o7777
    }

    /// Whether any user may execute it.
    pub fn is_executable(&self) -> bool {
        self.permissions() & 0o111 != 0
    }

    /// How many names it has.
    pub fn links(&self) -> u64 {
        self.0.st_nlink as u64
    }
}

/// How young a file may be before its times are believed, in seconds: some file systems count in twos, and a file that
/// is written again within one tick looks the same.
const SETTLED_AFTER: i64 = 2;

/// Identity, size and times of a file. Two that are equal and settled belong to the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Fingerprint {
    /// Of what the system says about a file.
    // The types of these fields differ from system to system.
    #[allow(clippy::unnecessary_cast)]
    pub fn of(Stat(stat): &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
        }
    }

    /// Of what is at a path, with one question to the system; `None` where nothing is. A link is not followed.
    pub fn at(path: &Path) -> Option<Self> {
        Stat::at(path).ok().map(|stat| Self::of(&stat))
    }

    /// Of something that is not on disk.
    pub fn none(size: u64) -> Self {
        Self { device: 0, inode: 0, size, modified: (0, 0), changed: (0, 0) }
    }

    /// As numbers, for whoever keeps it.
    pub fn numbers(&self) -> [u64; 7] {
        let Self { device, inode, size, modified, changed } = *self;
        [device, inode, size, modified.0.cast_unsigned(), modified.1, changed.0.cast_unsigned(), changed.1]
    }

    /// How many bytes it had.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it was old enough at `now` (seconds since 1970) for equal times to mean equal bytes.
    pub fn is_settled(&self, now: i64) -> bool {
        let newest = self.modified.0.max(self.changed.0);
        // Some file systems keep any time they are given.
        newest.saturating_add(SETTLED_AFTER) < now
    }
}

/// The clock that files are stamped with, in seconds.
pub fn now() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory file systems keep times from the far end of the universe.
    #[test]
    fn a_file_from_the_future_is_never_settled() {
        let print = |modified: i64| Fingerprint { modified: (modified, 0), ..Fingerprint::none(0) };
        assert!(print(0).is_settled(3) && print(i64::MIN).is_settled(3));
        assert!(!print(1).is_settled(3) && !print(i64::MAX).is_settled(3));
        assert!(!print(i64::MAX).is_settled(i64::MAX));
    }
}
