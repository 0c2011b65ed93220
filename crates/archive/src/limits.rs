//! How much is taken from strangers. Each limit is counted on what really comes, never on what is claimed.

/// The most bytes of one skill, and of all that an archive holds.
pub const TOTAL_MAX: u64 = 64 * 1024 * 1024;

/// The most bytes of one file.
pub const FILE_MAX: u64 = 16 * 1024 * 1024;

/// The most files of one skill or archive.
pub const FILES_MAX: usize = 4_096;

/// How deep folders may lie in one another.
pub const DEPTH_MAX: usize = 16;

/// The longest path inside a skill, in bytes.
pub const PATH_MAX: usize = 1_024;

/// The most that a server may send for one repository or archive.
pub const DOWNLOAD_MAX: u64 = 512 * 1024 * 1024;

/// The most entries of a whole repository or folder that skills are looked for in.
pub const ENTRIES_MAX: usize = 250_000;
