//! The file system, through one contained type.
//!
//! What must always hold: whatever is opened through a [`Folder`] lies beneath it, no link is followed on the way, and
//! nothing that could block (a FIFO, a device) is ever waited for. There is no moment between a check and a use.

mod beneath;
mod fingerprint;
mod folder;
mod guard;
mod lock;
mod parallel;
mod put;
mod read;
mod replace;
mod space;
mod tree_hash;
mod whole;

pub use beneath::{Bounds, Met, Why, beneath};
pub use fingerprint::{Fingerprint, now};
pub use folder::{Entries, Entry, EntryKind, Folder, words};
pub use guard::{Guard, busy, try_hold};
pub use lock::{lock, remove_unless_locked};
pub use parallel::parallel;
pub use put::{Put, Replaces};
pub use read::{ReadError, fill, read_bounded, read_marked, read_resolved, read_whole, regular};
pub use replace::{clear, replace, replace_soon};
pub use space::free_space;
pub use tree_hash::{HashedFile, HashedTree, TreeError, digest, resolved_tree_hash, tree_hash};
pub use whole::{Durable, staged, write_whole};
