//! A folder on this machine as a source: no link in it is followed, nothing special in it is opened.

use std::ffi::OsStr;
use std::path::Path;

use prowess::ErrorCode;
use prowess_fs::{
    Bounds, EntryKind as Kind, Errno, Folder, Met, ReadError, Why, beneath, path_from_bytes, read_whole,
    words,
};

use prowess_archive::limits::{ENTRIES_MAX, FILE_MAX};
use prowess_archive::{Entry, EntryKind, Tree, TreeFailure};

/// How deep folders may lie in the source: a skill may lie deep in it, and have folders of its own.
const FOLDERS_DEEP: usize = 64;
/// All paths together, in bytes: they are kept.
const PATHS_MAX: usize = 256 * ENTRIES_MAX;

/// The files below a folder, without those of git. They are listed at once and read when they are asked for.
#[derive(Debug)]
pub struct FolderTree {
    root: Folder,
    entries: Vec<Entry>,
}

impl FolderTree {
    /// Lists a folder. Links in `path` itself are followed: it is the user's.
    ///
    /// ```
    /// use prowess_package::{FolderTree, Tree};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// std::fs::write(folder.path().join("SKILL.md"), "x").unwrap();
    /// let tree = FolderTree::open(folder.path()).unwrap();
    /// assert_eq!(tree.read(0).unwrap(), b"x");
    /// ```
    pub fn open(path: &Path) -> Result<Self, TreeFailure> {
        let root = Folder::open(path).map_err(|error| unreadable(path, error))?;
        let bounds =
            Bounds { depth: FOLDERS_DEEP, entries: ENTRIES_MAX, enter: |path| !path.ends_with(".git") };
        let mut entries = Vec::new();
        let mut length = 0;
        beneath(&root, bounds, &mut |met| {
            let (folder, name, whole, kind) = match met {
                Met::Entry { name, .. } if name == ".git" => return Ok(()),
                Met::Entry { folder, name, path, kind } => (folder, name, path, kind),
                Met::Closed(below, Why::Unreadable(error)) => return Err(unreadable(below, error)),
                Met::Closed(below, Why::Deep) => {
                    let what = format!("{} lies deeper than {FOLDERS_DEEP} folders", below.display());
                    return Err(too_much(what));
                }
                Met::Closed(_, Why::Many) => {
                    return Err(too_much(format!("{} has more than {ENTRIES_MAX} entries", path.display())));
                }
            };
            let kind = match kind {
                Kind::File => file(folder, name).map_err(|error| unreadable(whole, error))?,
                Kind::Link => EntryKind::Link,
                Kind::Special | Kind::Folder => EntryKind::Special,
            };
            length += whole.as_os_str().len();
            if length > PATHS_MAX {
                return Err(too_much(format!("{} has paths that are too long", path.display())));
            }
            entries.push(Entry { path: whole.as_os_str().as_encoded_bytes().into(), kind });
            Ok(())
        })?;
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { root, entries })
    }
}

impl Tree for FolderTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, at: usize) -> Result<Vec<u8>, TreeFailure> {
        let Some(entry) = self.entries.get(at) else {
            let message = "there is no such file in the folder".into();
            return Err(TreeFailure { code: ErrorCode::InternalError, message });
        };
        let path = path_from_bytes(&entry.path);
        // It may have become something else since it was listed; opened is only what is a file now.
        let (file, stat) = self.root.file(path).map_err(|error| unreadable(path, error))?;
        read_whole(&file, &stat, FILE_MAX).map_err(|error| {
            let code = match error {
                ReadError::TooLarge(_) => ErrorCode::TooLarge,
                ReadError::NotAFile(_) => ErrorCode::AccessDenied,
                ReadError::Changing => ErrorCode::Conflict,
                ReadError::Os(error) => return unreadable(path, error),
            };
            TreeFailure { code, message: format!("{} was not read: {error}", path.display()).into() }
        })
    }
}

/// What a file says of itself, without being opened.
fn file(folder: &Folder, name: &OsStr) -> Result<EntryKind, Errno> {
    let stat = folder.stat(Path::new(name))?;
    Ok(EntryKind::File { executable: stat.is_executable(), bytes: stat.size() })
}

fn unreadable(path: &Path, error: Errno) -> TreeFailure {
    let code = prowess_archive::code(error);
    let shown = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    TreeFailure { code, message: format!("{} cannot be read: {}", shown.display(), words(error)).into() }
}

fn too_much(message: String) -> TreeFailure {
    TreeFailure { code: ErrorCode::TooLarge, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(tree: &FolderTree) -> Vec<(String, EntryKind)> {
        let name = |entry: &Entry| String::from_utf8_lossy(&entry.path).into_owned();
        tree.entries().iter().map(|entry| (name(entry), entry.kind)).collect()
    }

    #[test]
    fn everything_is_listed_and_nothing_followed() {
        let world = tempfile::tempdir().unwrap();
        let at = |inner: &str| world.path().join("in").join(inner);
        fs::create_dir_all(at("pdf/scripts")).unwrap();
        fs::create_dir_all(at(".git")).unwrap();
        fs::create_dir_all(at("pdf-x")).unwrap();
        fs::write(at(".git/config"), "x").unwrap();
        fs::write(world.path().join("secret"), "s").unwrap();
        fs::write(at("pdf/SKILL.md"), "text").unwrap();
        fs::write(at("pdf-x/SKILL.md"), "").unwrap();
        fs::write(at("pdf/scripts/run"), "x").unwrap();
        fs::set_permissions(at("pdf/scripts/run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("../secret", at("link")).unwrap();
        symlink("pdf", at("pdf-link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), 0o600.into()).unwrap();
        let tree = FolderTree::open(&world.path().join("in")).unwrap();
        let file = |executable, bytes| EntryKind::File { executable, bytes };
        let expected = [
            ("fifo", EntryKind::Special),
            ("link", EntryKind::Link),
            ("pdf-link", EntryKind::Link),
            ("pdf-x/SKILL.md", file(false, 0)),
            ("pdf/SKILL.md", file(false, 4)),
            ("pdf/scripts/run", file(true, 1)),
        ];
        assert_eq!(names(&tree), expected.map(|(name, kind)| (name.to_owned(), kind)));
        assert_eq!(tree.read(4).unwrap(), b"text");
        assert_eq!(tree.read(0).unwrap_err().code, ErrorCode::AccessDenied);
        assert_eq!(tree.read(1).unwrap_err().code, ErrorCode::AccessDenied);
    }

    #[test]
    fn what_becomes_a_link_after_the_listing_is_not_read() {
        let world = tempfile::tempdir().unwrap();
        let folder = world.path().join("in");
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::write(folder.join("a/f"), "mine").unwrap();
        fs::create_dir(world.path().join("b")).unwrap();
        fs::write(world.path().join("b/f"), "secret").unwrap();
        let tree = FolderTree::open(&folder).unwrap();
        fs::rename(folder.join("a"), folder.join("old")).unwrap();
        symlink(world.path().join("b"), folder.join("a")).unwrap();
        assert_eq!(tree.read(0).unwrap_err().code, ErrorCode::AccessDenied);
    }

    #[test]
    fn too_large_and_missing_have_their_codes() {
        let world = tempfile::tempdir().unwrap();
        fs::File::create(world.path().join("big")).unwrap().set_len(FILE_MAX + 1).unwrap();
        let tree = FolderTree::open(world.path()).unwrap();
        assert_eq!(tree.read(0).unwrap_err().code, ErrorCode::TooLarge);
        assert_eq!(FolderTree::open(&world.path().join("none")).unwrap_err().code, ErrorCode::NotFound);
        fs::create_dir_all(world.path().join("d/".repeat(FOLDERS_DEEP + 1))).unwrap();
        assert_eq!(FolderTree::open(world.path()).unwrap_err().code, ErrorCode::TooLarge);
    }
}
