//! Trust that is bound to what was there at the time.

use std::path::Path;

use super::store::TrustRecord;
use crate::registry::Untrusted;
use crate::scan::Found;
use crate::tree_hash::tree_hash;

/// The tree hashes a folder was trusted with.
pub(crate) struct Pins<'a> {
    record: &'a TrustRecord,
}

impl<'a> Pins<'a> {
    pub(crate) fn new(record: &'a TrustRecord) -> Self {
        Self { record }
    }

    /// Why a skill is not trusted any more; `None` where it is as it was.
    pub(crate) fn check(&self, found: &Found, base: &Path) -> Option<Untrusted> {
        let folder = found.canonical_folder();
        match self.record.hash_of(&folder) {
            None => Some(Untrusted::Added(base.to_owned())),
            // A folder that cannot be hashed cannot be shown to be the same.
            Some(pinned) if tree_hash(&folder).is_ok_and(|now| now == pinned) => None,
            Some(_) => Some(Untrusted::Changed(base.to_owned())),
        }
    }
}
