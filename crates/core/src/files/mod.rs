//! The file system, through one contained type.
//!
//! What must always hold: whatever is opened through a [`Folder`] lies beneath it, no link is followed on the way, and
//! nothing that could block (a FIFO, a device) is ever waited for. There is no moment between a check and a use.

mod beneath;
mod fingerprint;
mod folder;
mod lock;
mod put;
mod read;
mod replace;

pub use beneath::{Bounds, Met, Why, beneath};
pub(crate) use fingerprint::{Fingerprint, now};
pub use folder::{Entries, Entry, EntryKind, Folder, words};
pub use lock::lock;
pub(crate) use lock::{is_at, open as open_lock, remove_unless_locked};
pub use put::{Put, Replaces};
pub use read::{ReadError, read_bounded, read_whole};
pub(crate) use read::{fill, read_marked, read_resolved, regular};
pub use replace::replace;
pub(crate) use replace::{clear, replace_soon};
