//! Files from untrusted sources: paths that stay inside, limits, and archives (`.zip`, `.skill`, `.tar.gz`) that are read into
//! memory or refused as a whole.
//!
//! | module | subject |
//! |---|---|
//! | [`limits`] | how much is read |
//! | `inner_path` | a path that cannot lead out of its folder |
//! | `tree`, `memory_tree` | the files of a source, and a source in memory |
//! | `zip`, `headers` | zip, and the records it is made of |
//! | `tar`, `pax` | tar, and the records that lengthen names |
//! | `gzip`, `inflate` | compressed bytes, within a bound |
//! | `gather` | names, kinds and limits, the same for both formats |
//!
//! What must always hold: nothing is written anywhere; every limit is counted on what was really inflated; every byte
//! of an archive belongs to exactly one record, so that no two readers see two different archives in it; and an archive
//! inside an archive is a file like any other.

mod error;
mod gather;
mod gzip;
mod headers;
mod inflate;
mod inner_path;
pub mod limits;
mod memory_tree;
mod pax;
mod tar;
mod tree;
mod zip;

use std::path::Path;

use prowess_format::ErrorCode;
use prowess_fs::{Folder, ReadError, read_whole, words};

pub use error::{ArchiveError, Liar};
pub use inner_path::{InnerPath, PathError};
use limits::DOWNLOAD_MAX;
pub use memory_tree::{MemoryFile, MemoryTree};
pub use tree::{Entry, EntryKind, Tree, TreeFailure, code};

/// The most bytes of an archive that are read: as much as what may be in it, and what stands around it.
pub const ARCHIVE_MAX: u64 = 96 * 1024 * 1024;

const _: () = assert!(ARCHIVE_MAX <= DOWNLOAD_MAX);

/// Reads an archive. What it is, its first bytes say; what its name ends in does not matter.
///
/// ```
/// use prowess_archive::{ArchiveError, read};
///
/// assert_eq!(read(b"hello"), Err(ArchiveError::NotAnArchive));
/// ```
pub fn read(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    if bytes.len() as u64 > ARCHIVE_MAX {
        return Err(ArchiveError::Oversized);
    }
    match bytes {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => zip::read(bytes),
        [0x1f, 0x8b, ..] => tar::read(&gzip::inflate(bytes)?),
        _ => Err(foreign(bytes)),
    }
}

/// Reads a tar archive without compression.
pub fn read_tar(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    tar::read(bytes)
}

/// Inflates gzip, whatever is in it.
pub fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    gzip::inflate(bytes)
}

/// Reads an archive from a file, which must be a regular one; the last step of the path may not be a link.
pub fn open(path: &Path) -> Result<MemoryTree, ArchiveError> {
    let unreadable = |why: String, code| ArchiveError::Unreadable { path: path.to_owned(), why, code };
    let no_file = || unreadable("it is not a file".to_owned(), ErrorCode::IsDirectory);
    let name = path.file_name().ok_or_else(no_file)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let opened = Folder::open(folder).and_then(|folder| folder.file(Path::new(name)));
    let (file, stat) = opened.map_err(|error| unreadable(words(error), tree::code(error)))?;
    match read_whole(&file, &stat, ARCHIVE_MAX) {
        Ok(bytes) => read(&bytes),
        Err(ReadError::TooLarge(_)) => Err(ArchiveError::Oversized),
        Err(ReadError::Os(error)) => Err(unreadable(words(error), tree::code(error))),
        Err(error) => Err(unreadable(error.to_string(), ErrorCode::AccessDenied)),
    }
}

/// Names what is no archive of ours, where it can be told.
fn foreign(bytes: &[u8]) -> ArchiveError {
    let what = match bytes {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz",
        [b'B', b'Z', b'h', ..] => "bzip2",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
        [b'7', b'z', 0xbc, 0xaf, ..] => "7z",
        [b'R', b'a', b'r', b'!', ..] => "rar",
        [b'P', b'K', 7, 8, ..] => "zip in several parts",
        _ if bytes.get(257..262) == Some(b"ustar") => "tar without compression",
        _ if zip::has_end(bytes) => return ArchiveError::Outside { what: "before the first entry" },
        _ => return ArchiveError::NotAnArchive,
    };
    ArchiveError::Foreign(what)
}
