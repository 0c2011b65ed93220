//! Collects the entries of an archive: validates names, enforces limits and drops files that macOS adds.

use std::collections::HashMap;

use prowess_format::hidden;
use unicode_normalization::UnicodeNormalization;

use super::ArchiveError;
use crate::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};
use crate::{InnerPath, MemoryFile, MemoryTree};

/// The maximum number of entries. Directories are not kept, but each takes time.
const ENTRIES_MAX: usize = 4 * FILES_MAX;
/// The maximum size of all names together, in bytes: each name is kept, and each of its parent directories.
const NAMES_MAX: usize = 512 * FILES_MAX;

/// Collects the files of an archive.
#[derive(Default)]
pub(crate) struct TreeBuilder {
    files: Vec<MemoryFile>,
    /// Every path as seen by a case-insensitive file system, with its spelling and whether it is a file.
    paths: HashMap<String, (String, bool)>,
    entries: usize,
    name_bytes: usize,
    total: u64,
}

/// Returns a name for display, escaped and truncated.
pub(crate) fn display_name(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let short: String = text.chars().take(200).collect();
    hidden::escape_for_display(&short).into_owned()
}

impl TreeBuilder {
    /// Registers the name of an entry. Returns `None` for the top-level directory itself.
    pub(crate) fn add_name(&mut self, raw: &[u8], is_dir: bool) -> Result<Option<InnerPath>, ArchiveError> {
        self.entries += 1;
        self.name_bytes += raw.len();
        if self.entries > ENTRIES_MAX || self.name_bytes > NAMES_MAX {
            return Err(ArchiveError::TooManyEntries);
        }
        // Packing "." prefixes every name with this.
        let mut bare = raw.strip_prefix(b"./").unwrap_or(raw);
        if is_dir && raw != b"/" {
            bare = bare.strip_suffix(b"/").unwrap_or(bare);
            if matches!(bare, b"" | b".") {
                return Ok(None);
            }
        }
        let path = InnerPath::parse(bare)
            .map_err(|reason| ArchiveError::InvalidPath { name: display_name(raw), reason })?;
        self.reserve(&path, is_dir)?;
        Ok(Some(path))
    }

    /// Reserves a path. Fails if it exists, or if a file would have to be a directory.
    fn reserve(&mut self, path: &InnerPath, is_dir: bool) -> Result<(), ArchiveError> {
        let text = path.as_str();
        for (slash, _) in text.match_indices('/') {
            match self.paths.get(&fold_path(&text[..slash])) {
                Some((name, true)) => return Err(ArchiveError::FileDirConflict { name: name.clone() }),
                Some((_, false)) => {}
                None => {
                    self.paths.insert(fold_path(&text[..slash]), (text[..slash].to_owned(), false));
                }
            }
        }
        match self.paths.insert(fold_path(text), (text.to_owned(), !is_dir)) {
            None => Ok(()),
            // A directory may be implied first and listed later.
            Some((_, false)) if is_dir => Ok(()),
            Some((existing, true)) if !is_dir && existing == text => {
                Err(ArchiveError::DuplicatePath { name: text.to_owned() })
            }
            Some((existing, true)) if !is_dir => {
                Err(ArchiveError::CaseCollision { name: text.to_owned(), other: existing })
            }
            Some(_) => Err(ArchiveError::FileDirConflict { name: text.to_owned() }),
        }
    }

    /// Checks the size limits before a file is inflated.
    pub(crate) fn check_size(&self, raw: &[u8], bytes: u64) -> Result<(), ArchiveError> {
        if bytes > FILE_MAX {
            return Err(ArchiveError::FileTooLarge { name: display_name(raw) });
        }
        if self.total + bytes > TOTAL_MAX { Err(ArchiveError::TooLarge) } else { Ok(()) }
    }

    /// Adds a file whose name was registered before.
    pub(crate) fn add_file(
        &mut self,
        path: InnerPath,
        executable: bool,
        bytes: Vec<u8>,
    ) -> Result<(), ArchiveError> {
        self.check_size(path.as_str().as_bytes(), bytes.len() as u64)?;
        self.total += bytes.len() as u64;
        if is_junk(&path, &bytes) {
            return Ok(());
        }
        if self.files.len() >= FILES_MAX {
            return Err(ArchiveError::TooManyEntries);
        }
        self.files.push(MemoryFile { path, executable, bytes });
        Ok(())
    }

    /// Returns the collected files.
    pub(crate) fn finish(self) -> MemoryTree {
        MemoryTree::new(self.files)
    }
}

/// Returns a path as seen by a file system that ignores case and Unicode composition.
fn fold_path(path: &str) -> String {
    if path.is_ascii() { path.to_ascii_lowercase() } else { path.to_lowercase().nfc().collect() }
}

/// Returns `true` for files that macOS adds to archives: window positions, and attributes in files with a
/// signature.
fn is_junk(path: &InnerPath, bytes: &[u8]) -> bool {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    path.as_str().starts_with("__MACOSX/")
        || name == ".DS_Store"
        || (name.starts_with("._") && bytes.starts_with(&[0, 5, 0x16, 7]))
}
