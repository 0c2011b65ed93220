//! The cache file of a collection's vectors, next to its index.

use std::path::{Path, PathBuf};

use super::table::{FILE_MAX, TextDigest, VectorTable};
use crate::index::checksum;
use crate::index_cache::{base_path, outdated_files};
use prowess_fs::{lock, read_bounded, remove_unless_locked, write_private_nosync};

/// The maximum number of cache files; the oldest are removed first.
const FILES_MAX: usize = 8;

const SUFFIX: &str = ".vectors";

/// Returns the path of the vectors of a collection by a model of this identity.
pub(super) fn cache_path(dir: &Path, collection: u64, identity: &str) -> PathBuf {
    base_path(dir, collection).with_extension(format!("{:016x}{SUFFIX}", checksum(identity.as_bytes())))
}

/// Reads a cache file, if it is valid.
pub(super) fn read_cache(path: &Path, identity: &str) -> Option<VectorTable> {
    VectorTable::from_bytes(&read_bounded(path, FILE_MAX)?, identity)
}

/// Writes the vectors of these texts, after merging vectors that another process has written. If writing fails,
/// they are embedded again next time.
pub(super) fn write_cache(path: &Path, identity: &str, table: &mut VectorTable, keys: &[TextDigest]) {
    let Ok(_lock) = lock(path) else { return };
    if let Some(other) = read_cache(path, identity) {
        table.add_from(&other, keys);
    }
    let mut current = VectorTable::default();
    current.add_from(table, keys);
    let bytes = current.to_bytes(identity);
    if bytes.len() as u64 > FILE_MAX || write_private_nosync(path, &bytes).is_err() {
        return;
    }
    for path in outdated_files(path, SUFFIX, FILES_MAX) {
        remove_unless_locked(&path, || {
            let _ = std::fs::remove_file(&path);
        });
    }
}
