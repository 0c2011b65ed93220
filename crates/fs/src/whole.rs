//! Writing a file whole: the old bytes or the new ones, never half of either.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where a file is written before it is renamed.
pub fn staged(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.new"))
}

/// Whether a power cut may take back what was written. Nobody who kills a process can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// It may not.
    Yes,
    /// For what is replaced again within the same command: waiting for the disk twice would be most of its time.
    No,
}

/// Writes beside the file, and renames it into place. The caller holds the guard, so there is one name for what is
/// staged: what a killed process left there is replaced by the next.
pub fn write_whole(path: &Path, bytes: &[u8], mode: u32, durable: Durable) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let staged = staged(path);
    let write = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let _ = fs::remove_file(&staged);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&staged)?;
        file.write_all(bytes)?;
        if durable == Durable::No {
            return fs::rename(&staged, path);
        }
        file.sync_all()?;
        fs::rename(&staged, path)?;
        File::open(folder)?.sync_all()
    };
    // What was staged is of no use to anyone; that it cannot be removed changes nothing.
    write().inspect_err(|_| drop(fs::remove_file(&staged)))
}
