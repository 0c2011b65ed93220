//! The file of a collection's vectors, beside its index.

use std::path::{Path, PathBuf};

use super::table::{FILE_MAX, Key, Table};
use crate::index::checksum;
use crate::kept::base;
use prowess_fs::{lock, read_bounded, remove_unless_locked, replace_soon};

/// How many files of vectors are kept; the ones written longest ago go first.
const FILES: usize = 8;

const ENDING: &str = "vectors";

/// Where the vectors of a collection are that a model of this identity made.
pub(super) fn file(folder: &Path, collection: u64, identity: &str) -> PathBuf {
    base(folder, collection).with_extension(format!("{:016x}.{ENDING}", checksum(identity.as_bytes())))
}

/// What is there, if it is whole.
pub(super) fn read(path: &Path, identity: &str) -> Option<Table> {
    Table::of_bytes(&read_bounded(path, FILE_MAX)?, identity)
}

/// Writes the vectors of these texts. What another process wrote of them meanwhile is taken over first. Where it cannot be
/// written, they are made again next time.
pub(super) fn write(path: &Path, identity: &str, table: &mut Table, wanted: &[Key]) {
    let Ok(_lock) = lock(path) else { return };
    if let Some(other) = read(path, identity) {
        table.add_from(&other, wanted);
    }
    let mut current = Table::default();
    current.add_from(table, wanted);
    let bytes = current.to_bytes(identity);
    if bytes.len() as u64 <= FILE_MAX && replace_soon(path, &bytes).is_ok() {
        tidy(path);
    }
}

fn tidy(path: &Path) {
    let Some(entries) = path.parent().and_then(|folder| folder.read_dir().ok()) else { return };
    let dated = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let ours = path.extension().is_some_and(|ending| ending == ENDING);
        ours.then_some((entry.metadata().ok()?.modified().ok()?, path))
    };
    let mut files: Vec<_> = entries.flatten().filter_map(dated).collect();
    files.sort_unstable();
    for (_, path) in files.iter().rev().skip(FILES) {
        remove_unless_locked(path, || {
            let _ = std::fs::remove_file(path);
        });
    }
}
