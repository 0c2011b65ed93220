//! What comes out of an archive, entry by entry: names made safe, limits kept, junk dropped.

use std::collections::HashMap;

use prowess_format::hidden;
use unicode_normalization::UnicodeNormalization;

use super::ArchiveError;
use crate::limits::{FILE_MAX, FILES_MAX, TOTAL_MAX};
use crate::{InnerPath, MemoryFile, MemoryTree};

/// Folders are nothing by themselves, and yet each takes time.
const ENTRIES_MAX: usize = 4 * FILES_MAX;
/// All names together, in bytes: each is kept, and each folder in it.
const NAMES_MAX: usize = 512 * FILES_MAX;

/// The files so far.
#[derive(Default)]
pub(crate) struct Gather {
    files: Vec<MemoryFile>,
    /// Every path as a file system without case sees it, with how it was written and whether it is a file.
    taken: HashMap<String, (String, bool)>,
    entries: usize,
    names: usize,
    total: u64,
}

/// A name as people may see it.
pub(crate) fn shown(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let short: String = text.chars().take(200).collect();
    hidden::shown(&short).into_owned()
}

impl Gather {
    /// Takes the name of an entry. `None` is the top itself.
    pub(crate) fn name(&mut self, raw: &[u8], is_folder: bool) -> Result<Option<InnerPath>, ArchiveError> {
        self.entries += 1;
        self.names += raw.len();
        if self.entries > ENTRIES_MAX || self.names > NAMES_MAX {
            return Err(ArchiveError::TooMany);
        }
        // Whoever packs "." gets this in front of every name.
        let mut bare = raw.strip_prefix(b"./").unwrap_or(raw);
        if is_folder && raw != b"/" {
            bare = bare.strip_suffix(b"/").unwrap_or(bare);
            if matches!(bare, b"" | b".") {
                return Ok(None);
            }
        }
        let path = InnerPath::parse(bare).map_err(|why| ArchiveError::Name { name: shown(raw), why })?;
        self.take(&path, is_folder)?;
        Ok(Some(path))
    }

    /// Refuses a path that is there already, or that would need a file to be a folder.
    fn take(&mut self, path: &InnerPath, is_folder: bool) -> Result<(), ArchiveError> {
        let text = path.as_str();
        for (at, _) in text.match_indices('/') {
            match self.taken.get(&folded(&text[..at])) {
                Some((name, true)) => return Err(ArchiveError::FileAndFolder { name: name.clone() }),
                Some((_, false)) => {}
                None => {
                    self.taken.insert(folded(&text[..at]), (text[..at].to_owned(), false));
                }
            }
        }
        match self.taken.insert(folded(text), (text.to_owned(), !is_folder)) {
            None => Ok(()),
            // A folder may be implied first and named later.
            Some((_, false)) if is_folder => Ok(()),
            Some((other, true)) if !is_folder => Err(ArchiveError::Twice { name: text.to_owned(), other }),
            Some(_) => Err(ArchiveError::FileAndFolder { name: text.to_owned() }),
        }
    }

    /// Refuses what would be too much, before it is inflated.
    pub(crate) fn announce(&self, raw: &[u8], bytes: u64) -> Result<(), ArchiveError> {
        if bytes > FILE_MAX {
            return Err(ArchiveError::FileTooLarge { name: shown(raw) });
        }
        if self.total + bytes > TOTAL_MAX { Err(ArchiveError::TooLarge) } else { Ok(()) }
    }

    /// Adds a file whose name was taken before.
    pub(crate) fn file(
        &mut self,
        path: InnerPath,
        executable: bool,
        bytes: Vec<u8>,
    ) -> Result<(), ArchiveError> {
        self.announce(path.as_str().as_bytes(), bytes.len() as u64)?;
        self.total += bytes.len() as u64;
        if is_junk(&path, &bytes) {
            return Ok(());
        }
        if self.files.len() >= FILES_MAX {
            return Err(ArchiveError::TooMany);
        }
        self.files.push(MemoryFile { path, executable, bytes });
        Ok(())
    }

    /// All that came.
    pub(crate) fn tree(self) -> MemoryTree {
        MemoryTree::new(self.files)
    }
}

/// How a path looks to a file system that ignores case and how accents are written.
fn folded(path: &str) -> String {
    if path.is_ascii() { path.to_ascii_lowercase() } else { path.to_lowercase().nfc().collect() }
}

/// What macOS leaves in archives: window positions and attributes, the latter in files with a mark of their own.
fn is_junk(path: &InnerPath, bytes: &[u8]) -> bool {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    path.as_str().starts_with("__MACOSX/")
        || name == ".DS_Store"
        || (name.starts_with("._") && bytes.starts_with(&[0, 5, 0x16, 7]))
}
