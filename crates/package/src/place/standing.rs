//! What is in a folder, beside what the lock says of it.

use std::path::{Path, PathBuf};

use prowess::HashedTree;
use prowess::lock::{Comparison, Locked, compare};

use super::Place;
use crate::error::PackageError;

/// What is installed in a folder, beside what the lock says.
pub(crate) fn standing(place: &Place, locked: &Locked) -> Result<(PathBuf, Standing), PackageError> {
    let folder = place.folder(locked)?;
    let standing = standing_at(&folder, locked);
    Ok((folder, standing))
}

/// The same as [`standing`] for a folder that is known to be the one of the entry.
pub(super) fn standing_at(folder: &Path, locked: &Locked) -> Standing {
    match std::fs::symlink_metadata(folder) {
        Err(_) => Standing::Missing,
        Ok(there) if there.is_symlink() => Standing::Link,
        Ok(_) => {
            let comparison = compare(locked, &HashedTree::of(folder));
            if comparison.is_same() { Standing::Same } else { Standing::Modified(comparison) }
        }
    }
}

/// How an installed folder compares with the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Same,
    Missing,
    Link,
    Modified(Comparison),
}
