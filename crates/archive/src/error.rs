//! Why an archive is refused.

use std::path::PathBuf;

use prowess_format::ErrorCode;

use super::ARCHIVE_MAX;
use crate::PathError;
use crate::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};

/// Why an archive is refused, as a whole. Names are shown with whatever cannot be seen made visible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Its first bytes are those of no archive.
    #[error("it is neither a zip nor a tar.gz archive")]
    NotAnArchive,
    /// An archive of a kind that is not read.
    #[error("it is {0}, which is not read")]
    Foreign(&'static str),
    /// The file could not be read.
    #[error("{} cannot be read: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
        /// For programs.
        code: ErrorCode,
    },
    /// It ends too early.
    #[error("it ends in the middle of {0}")]
    Truncated(&'static str),
    /// Something in it cannot be understood.
    #[error("{what} cannot be understood: {why}")]
    Malformed {
        /// A record, or an entry's name.
        what: String,
        /// Why.
        why: &'static str,
    },
    /// Bytes that belong to no record: other programs could find another archive in them.
    #[error("it has bytes {what}, which other programs may take for something else")]
    Outside {
        /// Where.
        what: &'static str,
    },
    /// More than one record says where the archive ends.
    #[error("it has two end records, so that two programs may see two different archives")]
    TwoEnds,
    /// Zip64 is for archives far beyond any limit here.
    #[error("{0} uses zip64, which is for archives far larger than a skill may be")]
    Zip64(String),
    /// A name that is not taken as a path.
    #[error("the name “{name}” is refused: {why}")]
    Name {
        /// The name.
        name: String,
        /// Why.
        why: PathError,
    },
    /// Two entries with one name, or that a file system takes for one.
    #[error("“{name}” is there twice (as “{other}”)")]
    Twice {
        /// The later one.
        name: String,
        /// The earlier one.
        other: String,
    },
    /// A file where another entry needs a folder.
    #[error("“{name}” is a file and a folder at once")]
    FileAndFolder {
        /// The path.
        name: String,
    },
    /// A symbolic or hard link.
    #[error("“{name}” is a link")]
    Link {
        /// The entry.
        name: String,
    },
    /// A device, a FIFO, or what only some programs know.
    #[error("“{name}” is neither a file nor a folder")]
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
    /// Encrypted.
    #[error("“{name}” is encrypted")]
    Encrypted {
        /// The entry.
        name: String,
    },
    /// Compressed in a way that is not read.
    #[error("“{name}” is compressed by method {method}; only 0 (stored) and 8 (deflate) are read")]
    Method {
        /// The entry.
        name: String,
        /// The method's number.
        method: u16,
    },
    /// Bytes that do not fit their checksum.
    #[error("the bytes of “{name}” do not fit their checksum")]
    Checksum {
        /// The entry.
        name: String,
    },
    /// What is said in one place is not what is found in another.
    #[error("“{name}” lies about {about}")]
    Lies {
        /// The entry.
        name: String,
        /// About what.
        about: Liar,
    },
    /// Two entries of a zip share their bytes, which is how the smallest bombs are made.
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
    #[error("its files are larger than {} MiB in all", TOTAL_MAX >> 20)]
    TooLarge,
    /// Too many files.
    #[error("it has more than {FILES_MAX} files, or far too many folders or long names")]
    TooMany,
    /// The archive itself is too large.
    #[error("it is larger than {} MiB", ARCHIVE_MAX >> 20)]
    Oversized,
}

/// What an entry lies about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liar {
    /// Its name: two records of it differ.
    Name,
    /// How large it is, compressed or not.
    Size,
    /// Its checksum: two records of it differ.
    Checksum,
    /// How it is compressed: two records of it differ.
    Method,
}

impl std::fmt::Display for Liar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Name => "its name: its headers differ",
            Self::Size => "its size",
            Self::Checksum => "its checksum: its headers differ",
            Self::Method => "how it is stored: its headers differ",
        })
    }
}

impl ArchiveError {
    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Name { .. } | Self::Link { .. } | Self::Special { .. } => ErrorCode::AccessDenied,
            Self::FileTooLarge { .. } | Self::TooLarge | Self::TooMany | Self::Oversized => {
                ErrorCode::TooLarge
            }
            Self::Zip64(_) => ErrorCode::TooLarge,
            Self::Unreadable { code, .. } => *code,
            _ => ErrorCode::InvalidParam,
        }
    }

    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotAnArchive | Self::Foreign(_) => "skills come as .zip, .skill or .tar.gz",
            Self::Method { .. } | Self::Encrypted { .. } | Self::Zip64(_) | Self::Sparse { .. } => {
                "pack it again as a plain zip or tar.gz"
            }
            Self::Truncated(_) | Self::Checksum { .. } => "get it again: it may have been cut or damaged",
            Self::Link { .. } => "pack the file that the link leads to",
            Self::Outside { .. } | Self::TwoEnds | Self::Lies { .. } | Self::Twice { .. } => {
                "do not use it unless you know who made it; pack it again from its files"
            }
            Self::Name { why: PathError::Git, .. } => "pack it without its .git folder",
            Self::Name { .. } => "do not use it unless you know who made it",
            Self::TooLarge | Self::TooMany | Self::FileTooLarge { .. } => {
                "leave out what the skill does not need, or install from a repository with many skills"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
