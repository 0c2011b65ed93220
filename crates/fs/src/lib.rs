//! File access that never leaves a given directory.
//!
//! Invariants: everything opened through a [`Dir`] is beneath it, no symlink is followed on the way, and no
//! call blocks on a FIFO or a device. There is no race between a check and its use.
//!
//! This crate and `prowess-sandbox` are the only ones that depend on the operating system. Module `system`
//! contains the Linux-specific calls and their equivalents for other POSIX systems.

mod access;
mod atomic;
mod dir;
mod fingerprint;
mod lock;
mod parallel;
mod process;
mod read;
mod rename;
mod replace;
mod space;
mod staging;
mod system;
mod tree_hash;
mod walk;

pub use access::{
    SymlinkMode, can_execute, create_new, create_private, create_private_dir, create_private_dir_all,
    create_symlink, current_uid, device_id, file_id, is_executable, is_symlink_error, open_nonblocking,
    owner_uid, path_from_bytes, permissions, programs_on_path, read_exact_at, set_permissions,
};
pub use atomic::{
    AtomicFile, SyncPolicy, create_dir_all, failed_path, remove_staged, staging_path, write_atomic,
    write_private, write_private_nosync,
};
pub use dir::{Dir, DirEntries, DirEntry, EntryKind, describe_errno};
pub use fingerprint::{Fingerprint, Stat, unix_millis, unix_now};
pub use lock::{LockGuard, lock, lock_path, remove_unless_locked, try_lock};
pub use parallel::parallel_map;
pub use process::{
    TerminalMode, discard_typed, has_exited, kill_group, raise_open_files_limit, set_own_group,
    terminal_columns, wait_readable,
};
pub use read::{
    ReadError, ensure_regular, read_at, read_bounded, read_resolved, read_whole, read_with_fingerprint,
};
pub use rename::{ExpectedTarget, MoveOutcome, exchange, rename_noreplace};
pub use replace::ReplaceError;
pub use space::free_space;
pub use tree_hash::{HashedFile, HashedTree, TreeHashError, digest, tree_hash, tree_hash_resolved};
pub use walk::{SkipReason, WalkEvent, WalkLimits, walk};

/// The type of a file: regular file, directory, FIFO and so on.
pub use rustix::fs::FileType;
/// An error code of the operating system.
pub use rustix::io::Errno;
