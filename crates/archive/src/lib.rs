//! Files from untrusted sources: safe paths, limits, and archives (`.zip`, `.skill`, `.tar.gz`) that are read
//! into memory or rejected as a whole.
//!
//! | module | subject |
//! |---|---|
//! | [`limits`] | size limits |
//! | `inner_path` | a path that cannot escape its directory |
//! | `source_tree`, `memory_tree` | the files of a source, and a source in memory |
//! | `zip`, `zip_headers` | zip, and its records |
//! | `tar`, `pax` | tar, and its extended headers |
//! | `gzip`, `inflate` | decompression with a size limit |
//! | `tree_builder` | builds a tree from archive entries, and checks names, kinds and limits for both formats |
//!
//! Invariants: nothing is written to disk; every limit applies to the real inflated size; every byte of an
//! archive belongs to exactly one record, so that no other program can read different files from the same archive;
//! and an archive inside an archive is a plain file.

mod error;
mod gzip;
mod inflate;
mod inner_path;
pub mod limits;
mod memory_tree;
mod pax;
mod source_tree;
mod tar;
mod tree_builder;
mod zip;
mod zip_headers;

use std::path::Path;

use prowess_format::ErrorCode;
use prowess_fs::{Dir, ReadError, describe_errno, read_whole};

pub use error::{ArchiveError, Mismatch};
pub use inner_path::{InnerPath, InnerPathError};
use limits::DOWNLOAD_MAX;
pub use memory_tree::{MemoryFile, MemoryTree};
pub use source_tree::{SourceEntry, SourceEntryKind, SourceReadError, SourceTree, errno_to_code};

/// The maximum size of an archive, in bytes: its content and the overhead of the format.
pub const ARCHIVE_MAX: u64 = 96 * 1024 * 1024;

const _: () = assert!(ARCHIVE_MAX <= DOWNLOAD_MAX);

/// Reads an archive. The format is detected from its first bytes; the file name does not matter.
///
/// ```
/// use prowess_archive::{ArchiveError, read_archive};
///
/// assert_eq!(read_archive(b"hello"), Err(ArchiveError::NotAnArchive));
/// ```
pub fn read_archive(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    if bytes.len() as u64 > ARCHIVE_MAX {
        return Err(ArchiveError::ArchiveTooLarge);
    }
    match bytes {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => zip::read_zip(bytes),
        [0x1f, 0x8b, ..] => tar::read_tar(&gzip::inflate(bytes)?),
        _ => Err(unsupported_format(bytes)),
    }
}

/// Reads an uncompressed tar archive.
pub fn read_tar(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    tar::read_tar(bytes)
}

/// Decompresses gzip data; the content need not be a tar archive.
pub fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    gzip::inflate(bytes)
}

/// Reads an archive from a regular file. The last component of the path must not be a symlink.
pub fn open_archive(path: &Path) -> Result<MemoryTree, ArchiveError> {
    let unreadable = |reason: String, code| ArchiveError::Unreadable { path: path.to_owned(), reason, code };
    let os_error = |error| unreadable(describe_errno(error), source_tree::errno_to_code(error));
    let not_a_file = || unreadable("it is not a file".to_owned(), ErrorCode::IsDirectory);
    let name = path.file_name().ok_or_else(not_a_file)?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let opened = Dir::open(dir).and_then(|dir| dir.open_file(Path::new(name)));
    let (file, stat) = opened.map_err(os_error)?;
    match read_whole(&file, &stat, ARCHIVE_MAX) {
        Ok(bytes) => read_archive(&bytes),
        Err(ReadError::TooLarge(_)) => Err(ArchiveError::ArchiveTooLarge),
        Err(ReadError::Os(error)) => Err(os_error(error)),
        Err(error) => Err(unreadable(error.to_string(), ErrorCode::AccessDenied)),
    }
}

/// Returns an error that names the format, if it is a known one.
fn unsupported_format(bytes: &[u8]) -> ArchiveError {
    let format_name = match bytes {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz",
        [b'B', b'Z', b'h', ..] => "bzip2",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
        [b'7', b'z', 0xbc, 0xaf, ..] => "7z",
        [b'R', b'a', b'r', b'!', ..] => "rar",
        [b'P', b'K', 7, 8, ..] => "a multi-part zip",
        _ if bytes.get(257..262) == Some(b"ustar") => "an uncompressed tar",
        _ if zip::has_end(bytes) => return ArchiveError::StrayBytes { position: "before the first entry" },
        _ => return ArchiveError::NotAnArchive,
    };
    ArchiveError::UnsupportedFormat(format_name)
}
