//! The file system, through one contained type.
//!
//! What must always hold: whatever is opened through a [`Folder`] lies beneath it, no link is followed on the way, and
//! nothing that could block (a FIFO, a device) is ever waited for. There is no moment between a check and a use.

mod beneath;
mod fingerprint;
mod folder;
mod lock;
mod parallel;
mod put;
mod read;
mod space;
mod tree_hash;
mod whole;

pub use beneath::{Bounds, Met, Why, beneath};
pub use fingerprint::{Fingerprint, now};
pub use folder::{Entries, Entry, EntryKind, Folder, words};
pub use lock::{Guard, busy, lock, remove_unless_locked, try_hold};
pub use parallel::parallel;
pub use put::{Put, Replaces};
pub use read::{ReadError, fill, read_bounded, read_marked, read_resolved, read_whole, regular};
pub use space::free_space;
pub use tree_hash::{HashedFile, HashedTree, TreeError, digest, resolved_tree_hash, tree_hash};
pub use whole::{Durable, Staged, clear, make_folders, replace, replace_soon, staged, write_whole};
