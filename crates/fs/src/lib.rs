//! The file system, through one contained type.
//!
//! What must always hold: whatever is opened through a [`Folder`] lies beneath it, no link is followed on the way, and
//! nothing that could block (a FIFO, a device) is ever waited for. There is no moment between a check and a use.
//!
//! This crate and `prowess-sandbox` are the only ones that know the operating system. Module `system` has the calls that
//! only Linux has, and the same for other POSIX systems.

mod access;
mod beneath;
mod fingerprint;
mod folder;
mod lock;
mod parallel;
mod process;
mod put;
mod read;
mod space;
mod system;
mod tree_hash;
mod whole;

pub use access::{
    LastStep, can_execute, create_new, create_private, current_user, device, identity, is_executable,
    is_link_error, make_link, make_private_folder, make_private_folders, open_without_waiting, owner,
    path_from_bytes, permissions, read_exact_at, set_permissions,
};
pub use beneath::{Bounds, Met, Why, beneath};
pub use fingerprint::{Fingerprint, Stat, now};
pub use folder::{Entries, Entry, EntryKind, Folder, words};
pub use lock::{Guard, busy, lock, remove_unless_locked, try_hold};
pub use parallel::parallel;
pub use process::{
    TerminalMode, has_ended, in_own_group, kill_group, raise_open_files_limit, terminal_columns,
    wait_readable,
};
pub use put::{Put, Replaces, exchange, rename_new};
pub use read::{ReadError, fill, read_bounded, read_marked, read_resolved, read_whole, regular};
pub use space::free_space;
pub use tree_hash::{HashedFile, HashedTree, TreeError, digest, resolved_tree_hash, tree_hash};
pub use whole::{Durable, Staged, clear, make_folders, replace, replace_soon, staged, write_whole};

/// What a file is: a regular file, a directory, a FIFO and so on.
pub use rustix::fs::FileType;
/// What the system says when it refuses.
pub use rustix::io::Errno;
