//! Bounded reads of open files.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::{Dir, Fingerprint, Stat, describe_errno};

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file is a directory, FIFO, socket or device.
    #[error("it is not a regular file")]
    NotAFile(FileType),
    /// The file is larger than the limit.
    #[error("it is too large ({0} bytes)")]
    TooLarge(u64),
    /// The file changed twice while it was being read.
    #[error("it changed while it was being read")]
    Changing,
    /// An error of the operating system.
    #[error("{}", describe_errno(*.0))]
    Os(Errno),
}

impl From<Errno> for ReadError {
    fn from(error: Errno) -> Self {
        Self::Os(error)
    }
}

/// Returns an error unless the file is a regular file.
pub fn ensure_regular(stat: &Stat) -> Result<(), ReadError> {
    match stat.kind() {
        FileType::RegularFile => Ok(()),
        kind => Err(ReadError::NotAFile(kind)),
    }
}

/// Reads from `offset` until `buffer` is full or the file ends. Returns the number of bytes read.
pub fn read_at(file: &OwnedFd, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::io::pread(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads a regular file of at most `max` bytes by its path. Returns `None` if it is larger, special or
/// unreadable, or if the last component is a symlink.
pub fn read_bounded(path: &Path, max: u64) -> Option<Vec<u8>> {
    let (dir, name) = (path.parent()?, path.file_name()?);
    let (file, stat) = Dir::open(dir).ok()?.open_file(Path::new(name)).ok()?;
    read_whole(&file, &stat, max).ok()
}

/// Like [`read_bounded`], for a path that was resolved before: no component may be a symlink.
pub fn read_resolved(path: &Path, max: u64) -> Option<Vec<u8>> {
    let (dir, name) = (path.parent()?, path.file_name()?);
    let (file, stat) = Dir::open_resolved(dir).ok()?.open_file(Path::new(name)).ok()?;
    read_whole(&file, &stat, max).ok()
}

/// Reads a whole regular file of at most `max` bytes. Fails if it changes while being read.
pub fn read_whole(file: &OwnedFd, stat: &Stat, max: u64) -> Result<Vec<u8>, ReadError> {
    read_with_fingerprint(file, stat, max).map(|(bytes, _)| bytes)
}

/// Like [`read_whole`], and also returns the fingerprint of exactly these bytes.
pub fn read_with_fingerprint(
    file: &OwnedFd,
    stat: &Stat,
    max: u64,
) -> Result<(Vec<u8>, Fingerprint), ReadError> {
    ensure_regular(stat)?;
    let mut before = Fingerprint::from_stat(stat);
    for _ in 0..2 {
        if before.size() > max {
            return Err(ReadError::TooLarge(before.size()));
        }
        let bytes = read_expected(file, before.size())?;
        let after = Fingerprint::from_stat(&Stat::from_fd(file)?);
        if after == before && bytes.len() as u64 == before.size() {
            return Ok((bytes, after));
        }
        before = after;
    }
    Err(ReadError::Changing)
}

/// Reads the expected number of bytes and tries to read one more, to notice a file that grew. A short read
/// means the end of the file, so it is not repeated.
fn read_expected(file: &OwnedFd, size: u64) -> Result<Vec<u8>, Errno> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    loop {
        let offset = bytes.len() as u64;
        match rustix::io::pread(file, spare_capacity(&mut bytes), offset) {
            Ok(0) => return Ok(bytes),
            Ok(_) if bytes.len() >= size => return Ok(bytes),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
