//! Limits for untrusted sources. Each applies to the real size, never to a claimed one.

/// The maximum size of one skill, and of the content of an archive, in bytes.
pub const TOTAL_MAX: u64 = 64 * 1024 * 1024;

/// The maximum size of one file, in bytes.
pub const FILE_MAX: u64 = 16 * 1024 * 1024;

/// The maximum number of files of one skill or archive.
pub const FILES_MAX: usize = 4_096;

/// The maximum depth of directories.
pub const DEPTH_MAX: usize = 16;

/// The maximum length of a path inside a skill, in bytes.
pub const PATH_MAX: usize = 1_024;

/// The maximum size of a download for one repository or archive, in bytes.
pub const DOWNLOAD_MAX: u64 = 512 * 1024 * 1024;

/// The maximum number of entries of a repository or directory that is searched for skills.
pub const ENTRIES_MAX: usize = 250_000;
