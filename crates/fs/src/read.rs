//! Bounded reads of open files.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::{Fingerprint, Folder, Stat, words};

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A folder, FIFO, socket or device.
    #[error("it is not a regular file")]
    NotAFile(FileType),
    /// Larger than the bound.
    #[error("its {0} bytes are more than are read")]
    TooLarge(u64),
    /// It changed while it was read, twice.
    #[error("it changes while it is read")]
    Changing,
    /// The file system's own words.
    #[error("{}", words(*.0))]
    Os(Errno),
}

impl From<Errno> for ReadError {
    fn from(error: Errno) -> Self {
        Self::Os(error)
    }
}

/// Refuses whatever is not a regular file.
pub fn regular(stat: &Stat) -> Result<(), ReadError> {
    match stat.kind() {
        FileType::RegularFile => Ok(()),
        other => Err(ReadError::NotAFile(other)),
    }
}

/// Reads at `offset` into `buffer` until it is full or the file ends; gives what was read.
pub fn fill(file: &OwnedFd, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
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

/// Reads a regular file by its path, at most `max` bytes; `None` where it is larger, special or unreadable. The last
/// step of the path may not be a link.
pub fn read_bounded(path: &Path, max: u64) -> Option<Vec<u8>> {
    let (folder, name) = (path.parent()?, path.file_name()?);
    let (file, stat) = Folder::open(folder).ok()?.file(Path::new(name)).ok()?;
    read_whole(&file, &stat, max).ok()
}

/// The same by a path that was resolved before: no step of it may be a link now.
pub fn read_resolved(path: &Path, max: u64) -> Option<Vec<u8>> {
    let (folder, name) = (path.parent()?, path.file_name()?);
    let (file, stat) = Folder::open_resolved(folder).ok()?.file(Path::new(name)).ok()?;
    read_whole(&file, &stat, max).ok()
}

/// Reads a whole regular file of at most `max` bytes, unchanged from beginning to end.
pub fn read_whole(file: &OwnedFd, stat: &Stat, max: u64) -> Result<Vec<u8>, ReadError> {
    read_marked(file, stat, max).map(|(bytes, _)| bytes)
}

/// The same, with what the file system says of exactly these bytes.
pub fn read_marked(file: &OwnedFd, stat: &Stat, max: u64) -> Result<(Vec<u8>, Fingerprint), ReadError> {
    regular(stat)?;
    let mut before = Fingerprint::of(stat);
    for _ in 0..2 {
        if before.size() > max {
            return Err(ReadError::TooLarge(before.size()));
        }
        let bytes = read_expected(file, before.size())?;
        let after = Fingerprint::of(&Stat::of(file)?);
        if after == before && bytes.len() as u64 == before.size() {
            return Ok((bytes, after));
        }
        before = after;
    }
    Err(ReadError::Changing)
}

/// Reads as many bytes as there should be, and asks for one more, which tells whether the file grew. A read
/// that gives all of them and not that one has seen the end; there is no need to ask again.
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
