//! Why an archive is rejected.

use std::path::PathBuf;

use prowess_format::ErrorCode;

use super::ARCHIVE_MAX;
use crate::InnerPathError;
use crate::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};

/// Why an archive is rejected as a whole. Names are shown with hidden characters escaped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The first bytes are not those of an archive.
    #[error("it is neither a zip nor a tar.gz archive")]
    NotAnArchive,
    /// An archive in an unsupported format.
    #[error("it is {0}, which is not supported")]
    UnsupportedFormat(&'static str),
    /// The file could not be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
        /// The error code.
        code: ErrorCode,
    },
    /// The archive ends too early.
    #[error("it ends in the middle of {0}")]
    Truncated(&'static str),
    /// A part of the archive is invalid.
    #[error("{part} is invalid: {reason}")]
    Malformed {
        /// A record, or the name of an entry.
        part: String,
        /// The reason.
        reason: &'static str,
    },
    /// Bytes that belong to no record: other programs could find another archive in them.
    #[error("it contains bytes {position}, which other programs may interpret differently")]
    StrayBytes {
        /// The position of the bytes, such as "after its end".
        position: &'static str,
    },
    /// More than one record marks the end of the archive.
    #[error("it has two end records, so that programs may see different archives")]
    MultipleEndRecords,
    /// Zip64, which is for archives far larger than the limits.
    #[error("{0} uses zip64, which is for archives far larger than a skill may be")]
    Zip64(String),
    /// A name that is not a valid path.
    #[error("the name “{name}” is not allowed: {reason}")]
    InvalidPath {
        /// The name.
        name: String,
        /// The reason.
        reason: InnerPathError,
    },
    /// Two entries with the same name.
    #[error("duplicate entry “{name}”")]
    DuplicatePath {
        /// The name.
        name: String,
    },
    /// Two entries with names that some file systems treat as the same.
    #[error("“{other}” and “{name}” are the same file on case-insensitive file systems")]
    CaseCollision {
        /// The later one.
        name: String,
        /// The earlier one.
        other: String,
    },
    /// A file where another entry needs a directory.
    #[error("“{name}” is both a file and a directory")]
    FileDirConflict {
        /// The path.
        name: String,
    },
    /// A symbolic or hard link.
    #[error("“{name}” is a symlink or hard link")]
    Link {
        /// The entry.
        name: String,
    },
    /// A device, a FIFO, or a type that only some programs know.
    #[error("“{name}” is neither a file nor a directory")]
    Special {
        /// The entry.
        name: String,
    },
    /// A file with holes.
    #[error("“{name}” is stored as a sparse file")]
    Sparse {
        /// The entry.
        name: String,
    },
    /// The entry is encrypted.
    #[error("“{name}” is encrypted")]
    Encrypted {
        /// The entry.
        name: String,
    },
    /// The compression method is not supported.
    #[error("“{name}” uses compression method {method}; only 0 (stored) and 8 (deflate) are supported")]
    CompressionMethod {
        /// The entry.
        name: String,
        /// The number of the method.
        method: u16,
    },
    /// The content does not match its checksum.
    #[error("the content of “{name}” does not match its checksum")]
    Checksum {
        /// The entry.
        name: String,
    },
    /// Two records about the entry disagree, or a record does not match the content.
    #[error("“{name}” is inconsistent: {about}")]
    Inconsistent {
        /// The entry.
        name: String,
        /// The property that does not match.
        about: Mismatch,
    },
    /// Two entries of a zip share their bytes, as in the smallest zip bombs.
    #[error("“{name}” shares its bytes with another entry")]
    Overlap {
        /// One of the two.
        name: String,
    },
    /// One file is too large.
    #[error("“{name}” is larger than {} MiB", FILE_MAX >> 20)]
    FileTooLarge {
        /// The entry.
        name: String,
    },
    /// All files together are too large.
    #[error("its files are larger than {} MiB in total", TOTAL_MAX >> 20)]
    TooLarge,
    /// There are too many files.
    #[error("it has more than {FILES_MAX} files, or too many directories or long names")]
    TooManyEntries,
    /// The archive file itself is too large.
    #[error("it is larger than {} MiB", ARCHIVE_MAX >> 20)]
    ArchiveTooLarge,
}

/// A property in which an entry is inconsistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// The name differs between two records.
    Name,
    /// The compressed or uncompressed size is wrong.
    Size,
    /// The checksum differs between two records.
    Checksum,
    /// The compression method differs between two records.
    Method,
    /// The flags differ between two records, such as whether the entry is encrypted.
    Flags,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Name => "its headers have different names",
            Self::Size => "its size is wrong",
            Self::Checksum => "its headers have different checksums",
            Self::Method => "its headers have different compression methods",
            Self::Flags => "its headers have different flags",
        })
    }
}

impl ArchiveError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidPath { .. } | Self::Link { .. } | Self::Special { .. } => ErrorCode::AccessDenied,
            Self::FileTooLarge { .. } | Self::TooLarge | Self::TooManyEntries | Self::ArchiveTooLarge => {
                ErrorCode::TooLarge
            }
            Self::Zip64(_) => ErrorCode::TooLarge,
            Self::Unreadable { code, .. } => *code,
            _ => ErrorCode::InvalidParam,
        }
    }

    /// Returns a hint on how to fix the problem, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotAnArchive | Self::UnsupportedFormat(_) => "pack the skill as .zip, .skill or .tar.gz",
            Self::CompressionMethod { .. }
            | Self::Encrypted { .. }
            | Self::Zip64(_)
            | Self::Sparse { .. } => "pack it again as a plain zip or tar.gz",
            Self::Truncated(_) | Self::Checksum { .. } => "download it again: it may be truncated or damaged",
            Self::CaseCollision { .. } => "rename one of the two files and pack the skill again",
            Self::Link { .. } => "pack its target instead",
            Self::StrayBytes { .. }
            | Self::MultipleEndRecords
            | Self::Inconsistent { .. }
            | Self::DuplicatePath { .. } => {
                "do not use it unless you trust its author; pack it again from its files"
            }
            Self::InvalidPath { reason: InnerPathError::Git, .. } => "pack it without its .git directory",
            Self::InvalidPath { .. } => "do not use it unless you trust its author",
            Self::TooLarge | Self::TooManyEntries | Self::FileTooLarge { .. } => {
                "remove files that the skill does not need"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
