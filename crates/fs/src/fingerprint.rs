//! File metadata, and detecting changed files by it.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType};
use rustix::io::Errno;

/// The metadata of a file or directory.
#[derive(Debug, Clone, Copy)]
pub struct Stat(pub(crate) rustix::fs::Stat);

// The types of these fields differ from system to system.
#[allow(clippy::unnecessary_cast)]
impl Stat {
    /// Returns the metadata of an open file.
    pub fn from_fd(file: &impl AsFd) -> Result<Self, Errno> {
        rustix::fs::fstat(file).map(Self)
    }

    /// Returns the metadata of a path. A symlink is not followed.
    pub fn from_path(path: &Path) -> Result<Self, Errno> {
        rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map(Self)
    }

    /// Returns the file type.
    pub fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.0.st_mode)
    }

    /// Returns `true` for regular files.
    pub fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or_default()
    }

    /// Returns the permissions, as the lower twelve bits of a POSIX mode.
    pub fn permissions(&self) -> u32 {
        self.0.st_mode as u32 & 0o7777
    }

    /// Returns `true` if any user may execute the file.
    pub fn is_executable(&self) -> bool {
        self.permissions() & 0o111 != 0
    }

    /// Returns the ids of the user and the group that own the file.
    pub fn owner(&self) -> (u32, u32) {
        (self.0.st_uid as u32, self.0.st_gid as u32)
    }

    /// Returns the number of hard links.
    pub fn link_count(&self) -> u64 {
        self.0.st_nlink as u64
    }
}

/// The minimum age of a file, in seconds, before its times are reliable: some file systems have a resolution of
/// two seconds, and a file that is written twice within one tick looks unchanged.
const SETTLED_AFTER: i64 = 2;

/// The identity, size and times of a file. Two fingerprints that are equal and settled belong to the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Fingerprint {
    /// Creates the fingerprint of a file from its metadata.
    // The types of these fields differ from system to system.
    #[allow(clippy::unnecessary_cast)]
    pub fn from_stat(Stat(stat): &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
        }
    }

    /// Returns the fingerprint of a path with one system call, or `None` if nothing is there. A symlink is not
    /// followed.
    pub fn from_path(path: &Path) -> Option<Self> {
        Stat::from_path(path).ok().map(|stat| Self::from_stat(&stat))
    }

    /// Creates a fingerprint for content that is not on disk.
    pub fn synthetic(size: u64) -> Self {
        Self { device: 0, inode: 0, size, modified: (0, 0), changed: (0, 0) }
    }

    /// Returns the fingerprint as numbers, for storage.
    pub fn to_numbers(&self) -> [u64; 7] {
        let Self { device, inode, size, modified, changed } = *self;
        [device, inode, size, modified.0.cast_unsigned(), modified.1, changed.0.cast_unsigned(), changed.1]
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns `true` if both belong to the same file with the same content. The time of the last change, which a rename
    /// also sets, is not compared.
    pub fn is_same_content(&self, other: &Self) -> bool {
        let parts = |it: &Self| (it.device, it.inode, it.size, it.modified);
        parts(self) == parts(other)
    }

    /// Returns `true` if the file was old enough at `now` (seconds since 1970) that equal times mean equal bytes.
    pub fn is_settled(&self, now: i64) -> bool {
        let newest = self.modified.0.max(self.changed.0);
        // Saturating, because some file systems accept any time.
        newest.saturating_add(SETTLED_AFTER) < now
    }
}

/// Returns the current time in milliseconds since 1970.
pub fn unix_millis() -> u64 {
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the current time in seconds since 1970, comparable with file times.
pub fn unix_now() -> i64 {
    i64::try_from(unix_millis() / 1_000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory file systems accept times in the far future.
    #[test]
    fn a_file_from_the_future_is_never_settled() {
        let fingerprint =
            |modified: i64| Fingerprint { modified: (modified, 0), ..Fingerprint::synthetic(0) };
        assert!(fingerprint(0).is_settled(3) && fingerprint(i64::MIN).is_settled(3));
        assert!(!fingerprint(1).is_settled(3) && !fingerprint(i64::MAX).is_settled(3));
        assert!(!fingerprint(i64::MAX).is_settled(i64::MAX));
    }
}
