//! Files that are there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::PackError;

/// Writes beside `path` and renames into place.
pub(super) fn whole(path: &Path, bytes: &[u8]) -> Result<(), PackError> {
    let failed = |error: io::Error| PackError::Write { path: path.to_owned(), why: error.kind().to_string() };
    let staged = beside(path).ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
    // Only a killed process of the same number can have left one.
    let _ = fs::remove_file(&staged);
    let written = write(&staged, bytes).and_then(|()| fs::rename(&staged, path));
    if written.is_err() {
        // It is of no use to anyone; that it cannot be removed changes nothing.
        let _ = fs::remove_file(&staged);
    }
    written.map_err(failed)
}

/// Makes a folder, and those above it.
pub(super) fn folder(path: &Path) -> Result<(), PackError> {
    let failed = |error: io::Error| PackError::Write { path: path.to_owned(), why: error.kind().to_string() };
    fs::create_dir_all(path).map_err(failed)
}

fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    Some(path.with_file_name(format!(".{name}.{}.new", process::id())))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
