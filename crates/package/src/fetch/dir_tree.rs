//! A local directory as a source. Symlinks in it are not followed, and special files are not opened.

use std::ffi::OsStr;
use std::path::Path;

use prowess::ErrorCode;
use prowess_fs::{
    Dir, EntryKind as Kind, Errno, ReadError, SkipReason, WalkEvent, WalkLimits, describe_errno,
    path_from_bytes, read_whole, walk,
};

use prowess_archive::limits::{ENTRIES_MAX, FILE_MAX};
use prowess_archive::{SourceEntry, SourceEntryKind, SourceReadError, SourceTree};

/// The maximum depth of directories in the source.
const DEPTH_MAX: usize = 64;
/// The maximum total length of all paths in bytes, because they are kept in memory.
const PATHS_MAX: usize = 256 * ENTRIES_MAX;

/// The files in a directory, except those in `.git`. They are listed at once and read on demand.
#[derive(Debug)]
pub struct DirTree {
    root: Dir,
    entries: Vec<SourceEntry>,
}

impl DirTree {
    /// Lists a directory. Symlinks in `path` itself are followed, because the user passed it.
    ///
    /// ```
    /// use prowess_package::{DirTree, SourceTree};
    ///
    /// let dir = tempfile::tempdir().unwrap();
    /// std::fs::write(dir.path().join("SKILL.md"), "x").unwrap();
    /// let tree = DirTree::open(dir.path()).unwrap();
    /// assert_eq!(tree.read_entry(0).unwrap(), b"x");
    /// ```
    pub fn open(path: &Path) -> Result<Self, SourceReadError> {
        let root = Dir::open(path).map_err(|error| read_error(path, error))?;
        let bounds =
            WalkLimits { depth: DEPTH_MAX, entries: ENTRIES_MAX, enter: |path| !path.ends_with(".git") };
        let mut entries = Vec::new();
        let mut length = 0;
        walk(&root, bounds, &mut |event| {
            let (dir, name, entry_path, kind) = match event {
                WalkEvent::Entry { name, .. } if name == ".git" => return Ok(()),
                WalkEvent::Entry { dir, name, path, kind } => (dir, name, path, kind),
                WalkEvent::Skipped(skipped, SkipReason::Unreadable(error)) => {
                    return Err(read_error(skipped, error));
                }
                WalkEvent::Skipped(skipped, SkipReason::TooDeep) => {
                    let message =
                        format!("{} is nested deeper than {DEPTH_MAX} directories", skipped.display());
                    return Err(too_large(message));
                }
                WalkEvent::Skipped(_, SkipReason::TooManyEntries) => {
                    return Err(too_large(format!("{} has more than {ENTRIES_MAX} entries", path.display())));
                }
            };
            let kind = match kind {
                Kind::File => file_entry(dir, name).map_err(|error| read_error(entry_path, error))?,
                Kind::Symlink => SourceEntryKind::Link,
                Kind::Special | Kind::Dir => SourceEntryKind::Special,
            };
            length += entry_path.as_os_str().len();
            if length > PATHS_MAX {
                return Err(too_large(format!("the paths in {} are too long", path.display())));
            }
            entries.push(SourceEntry { path: entry_path.as_os_str().as_encoded_bytes().into(), kind });
            Ok(())
        })?;
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { root, entries })
    }
}

impl SourceTree for DirTree {
    fn entries(&self) -> &[SourceEntry] {
        &self.entries
    }

    fn read_entry(&self, index: usize) -> Result<Vec<u8>, SourceReadError> {
        let Some(entry) = self.entries.get(index) else {
            let message = "the directory has no such file".into();
            return Err(SourceReadError { code: ErrorCode::InternalError, message });
        };
        let path = path_from_bytes(&entry.path);
        // The file may have been replaced after it was listed; only a regular file is opened.
        let (file, stat) = self.root.open_file(path).map_err(|error| read_error(path, error))?;
        read_whole(&file, &stat, FILE_MAX).map_err(|error| {
            let code = match error {
                ReadError::TooLarge(_) => ErrorCode::TooLarge,
                ReadError::NotAFile(_) => ErrorCode::AccessDenied,
                ReadError::Changing => ErrorCode::Conflict,
                ReadError::Os(error) => return read_error(path, error),
            };
            SourceReadError { code, message: format!("cannot read {}: {error}", path.display()).into() }
        })
    }
}

/// Returns the metadata of a file without opening it.
fn file_entry(dir: &Dir, name: &OsStr) -> Result<SourceEntryKind, Errno> {
    let stat = dir.stat(Path::new(name))?;
    Ok(SourceEntryKind::File { executable: stat.is_executable(), bytes: stat.size() })
}

fn read_error(path: &Path, error: Errno) -> SourceReadError {
    let code = prowess_archive::errno_to_code(error);
    let shown = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    SourceReadError {
        code,
        message: format!("cannot read {}: {}", shown.display(), describe_errno(error)).into(),
    }
}

fn too_large(message: String) -> SourceReadError {
    SourceReadError { code: ErrorCode::TooLarge, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn entries(tree: &DirTree) -> Vec<(String, SourceEntryKind)> {
        let name = |entry: &SourceEntry| String::from_utf8_lossy(&entry.path).into_owned();
        tree.entries().iter().map(|entry| (name(entry), entry.kind)).collect()
    }

    #[test]
    fn symlinks_and_special_files_are_listed_but_not_opened() {
        let temp = tempfile::tempdir().unwrap();
        let at = |inner: &str| temp.path().join("in").join(inner);
        fs::create_dir_all(at("pdf/scripts")).unwrap();
        fs::create_dir_all(at(".git")).unwrap();
        fs::create_dir_all(at("pdf-x")).unwrap();
        fs::write(at(".git/config"), "x").unwrap();
        fs::write(temp.path().join("secret"), "s").unwrap();
        fs::write(at("pdf/SKILL.md"), "text").unwrap();
        fs::write(at("pdf-x/SKILL.md"), "").unwrap();
        fs::write(at("pdf/scripts/run"), "x").unwrap();
        fs::set_permissions(at("pdf/scripts/run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("../secret", at("link")).unwrap();
        symlink("pdf", at("pdf-link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), 0o600.into()).unwrap();
        let tree = DirTree::open(&temp.path().join("in")).unwrap();
        let file = |executable, bytes| SourceEntryKind::File { executable, bytes };
        let expected = [
            ("fifo", SourceEntryKind::Special),
            ("link", SourceEntryKind::Link),
            ("pdf-link", SourceEntryKind::Link),
            ("pdf-x/SKILL.md", file(false, 0)),
            ("pdf/SKILL.md", file(false, 4)),
            ("pdf/scripts/run", file(true, 1)),
        ];
        assert_eq!(entries(&tree), expected.map(|(name, kind)| (name.to_owned(), kind)));
        assert_eq!(tree.read_entry(4).unwrap(), b"text");
        assert_eq!(tree.read_entry(0).unwrap_err().code, ErrorCode::AccessDenied);
        assert_eq!(tree.read_entry(1).unwrap_err().code, ErrorCode::AccessDenied);
    }

    #[test]
    fn a_directory_replaced_by_a_symlink_after_listing_is_not_read() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("in");
        fs::create_dir_all(dir.join("a")).unwrap();
        fs::write(dir.join("a/f"), "mine").unwrap();
        fs::create_dir(temp.path().join("b")).unwrap();
        fs::write(temp.path().join("b/f"), "secret").unwrap();
        let tree = DirTree::open(&dir).unwrap();
        fs::rename(dir.join("a"), dir.join("old")).unwrap();
        symlink(temp.path().join("b"), dir.join("a")).unwrap();
        assert_eq!(tree.read_entry(0).unwrap_err().code, ErrorCode::AccessDenied);
    }

    #[test]
    fn errors_have_codes() {
        let temp = tempfile::tempdir().unwrap();
        fs::File::create(temp.path().join("big")).unwrap().set_len(FILE_MAX + 1).unwrap();
        let tree = DirTree::open(temp.path()).unwrap();
        assert_eq!(tree.read_entry(0).unwrap_err().code, ErrorCode::TooLarge);
        assert_eq!(DirTree::open(&temp.path().join("none")).unwrap_err().code, ErrorCode::NotFound);
        fs::create_dir_all(temp.path().join("d/".repeat(DEPTH_MAX + 1))).unwrap();
        assert_eq!(DirTree::open(temp.path()).unwrap_err().code, ErrorCode::TooLarge);
    }
}
