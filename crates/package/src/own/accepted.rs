//! What was installed is checked against the lock when it is loaded. Whoever edits it here accepts what comes of that, but
//! nothing that somebody else changed before.

use std::path::Path;

use prowess::lock::{self, Lock};
use prowess::{HashedTree, Surroundings};

use super::OwnError;
use crate::error::PackageError;
use crate::place::Place;

/// What was accepted for a change, so that it can be taken back.
pub(super) struct Accepted {
    changed: bool,
    before: Option<String>,
}

impl Accepted {
    /// Accepts what will be there, before it is: nobody is killed between a change and its acceptance. `folder` is the
    /// skill's, `real` the same without links, and `file` the path, the mode and the bytes that it will have.
    pub(super) fn before(
        place: &Place,
        folder: &Path,
        real: &Path,
        file: (&str, bool, &[u8]),
    ) -> Result<Self, OwnError> {
        let nothing = Self { changed: false, before: None };
        let lock = Lock::read(&place.lock).map_err(PackageError::from)?;
        let Some(locked) = lock.skill(&place.key(folder)) else { return Ok(nothing) };
        let before = lock::accepted(&place.world, real);
        let Ok(mut tree) = HashedTree::of_resolved(real) else { return Ok(nothing) };
        let now = tree.hash();
        if now != locked.tree && before.as_ref() != Some(&now) {
            return Ok(nothing);
        }
        let (path, executable, bytes) = file;
        tree.replace(path, executable, bytes);
        let accepted = lock::accept(&place.world, real, &tree.hash());
        accepted.map_err(PackageError::io("accepted", real))?;
        Ok(Self { changed: true, before })
    }

    /// Accepts what was accepted before.
    pub(super) fn take_back(&self, world: &Surroundings, real: &Path) {
        if !self.changed {
            return;
        }
        // That something was accepted that is not there harms nobody.
        let _ = match &self.before {
            Some(before) => lock::accept(world, real, before),
            None => lock::forget(world, [real]),
        };
    }
}
