//! One digest for a whole folder that anybody can recompute: `sha256-tree-v1`.
//!
//! The digest is SHA-256 over a domain line and then, for each regular file in the order of their paths, the length of
//! the NFC path as 8 bytes, the path with `/`, one byte for the executable bit, the size as 8 bytes, and the SHA-256 of
//! the bytes. Numbers are big-endian. A link or a special file has no place in it and is an error.

use std::path::{Path, PathBuf};

use rustix::io::Errno;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use crate::{Bounds, EntryKind, Folder, Met, ReadError, Why, beneath, read_whole, words};

const DOMAIN: &[u8] = b"prowess sha256-tree-v1\n";
const FILES_MAX: usize = 4_096;
/// As many files and as many folders as there may be.
const ENTRIES_MAX: usize = 2 * FILES_MAX;
const FILE_MAX: u64 = 16 * 1024 * 1024;
const TOTAL_MAX: u64 = 64 * 1024 * 1024;
const DEPTH_MAX: usize = 16;

/// Why a folder has no tree hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A link, FIFO, socket or device.
    #[error("{} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// A name that is not Unicode.
    #[error("{} has a name that is not Unicode", .0.display())]
    Name(PathBuf),
    /// More than is ever hashed.
    #[error("{what} goes beyond the limit of {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A file that changes or cannot be read.
    #[error("{} cannot be read: {why}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A folder's files, each with its digest, and the digest of them all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HashedTree {
    files: Vec<HashedFile>,
}

/// A file of a [`HashedTree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedFile {
    /// The path below the folder, in NFC, with `/`.
    pub path: String,
    /// Whether anybody may execute it.
    pub executable: bool,
    /// Its size.
    pub bytes: u64,
    digest: [u8; 32],
}

impl HashedFile {
    /// The digest of its bytes: `sha256:` and hexadecimal digits.
    pub fn digest(&self) -> String {
        format!("sha256:{}", hex(&self.digest))
    }
}

impl HashedTree {
    /// Reads and hashes a folder.
    pub fn of(folder: &Path) -> Result<Self, TreeError> {
        read(&Folder::open(folder).map_err(|error| unreadable(folder, error))?)
    }

    /// The same for a path that was resolved before: no step of it may be a link now.
    pub fn of_resolved(folder: &Path) -> Result<Self, TreeError> {
        read(&Folder::open_resolved(folder).map_err(|error| unreadable(folder, error))?)
    }

    /// Takes in one more file.
    ///
    /// ```
    /// let folder = tempfile::tempdir().unwrap();
    /// std::fs::write(folder.path().join("SKILL.md"), "x").unwrap();
    /// let mut tree = prowess_fs::HashedTree::default();
    /// tree.add("SKILL.md", false, b"x");
    /// assert_eq!(tree.hash(), prowess_fs::tree_hash(folder.path()).unwrap());
    /// ```
    pub fn add(&mut self, path: &str, executable: bool, bytes: &[u8]) {
        let path = nfc(path);
        let at = self.files.partition_point(|file| file.path < path);
        let digest = Sha256::digest(bytes).into();
        self.files.insert(at, HashedFile { path, executable, bytes: bytes.len() as u64, digest });
    }

    /// Takes in a file in the place of the one that has its path.
    pub fn replace(&mut self, path: &str, executable: bool, bytes: &[u8]) {
        let known = nfc(path);
        self.files.retain(|file| file.path != known);
        self.add(path, executable, bytes);
    }

    /// The files, sorted by path.
    pub fn files(&self) -> &[HashedFile] {
        &self.files
    }

    /// The file of this path.
    pub fn file(&self, path: &str) -> Option<&HashedFile> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }

    /// The tree hash, with its `sha256-tree-v1:` before it.
    pub fn hash(&self) -> String {
        let mut tree = Sha256::new_with_prefix(DOMAIN);
        for file in &self.files {
            tree.update((file.path.len() as u64).to_be_bytes());
            tree.update(&file.path);
            tree.update([u8::from(file.executable)]);
            tree.update(file.bytes.to_be_bytes());
            tree.update(file.digest);
        }
        format!("sha256-tree-v1:{}", hex(&tree.finalize()))
    }
}

/// The tree hash of a folder, with its `sha256-tree-v1:` before it.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("SKILL.md"), "x").unwrap();
/// let hash = prowess_fs::tree_hash(folder.path()).unwrap();
/// assert!(hash.starts_with("sha256-tree-v1:"));
/// ```
pub fn tree_hash(folder: &Path) -> Result<String, TreeError> {
    HashedTree::of(folder).map(|tree| tree.hash())
}

/// The same for a path that was resolved before: no step of it may be a link now.
pub fn resolved_tree_hash(folder: &Path) -> Result<String, TreeError> {
    HashedTree::of_resolved(folder).map(|tree| tree.hash())
}

fn read(root: &Folder) -> Result<HashedTree, TreeError> {
    let mut listed = list(root)?;
    listed.sort_unstable();
    let mut files = Vec::with_capacity(listed.len());
    let mut total = 0;
    for (name, path) in listed {
        let (file, stat) = root.file(&path).map_err(|error| unreadable(&path, error))?;
        let bytes = read_whole(&file, &stat, FILE_MAX).map_err(|error| refused(&path, error))?;
        total += bytes.len() as u64;
        if total > TOTAL_MAX {
            return Err(TreeError::Limit { what: "the size of all files", limit: TOTAL_MAX });
        }
        files.push(HashedFile {
            path: name,
            executable: stat.is_executable(),
            bytes: bytes.len() as u64,
            digest: Sha256::digest(&bytes).into(),
        });
    }
    Ok(HashedTree { files })
}

/// The digest of some bytes, as people see it: `sha256:` and hexadecimal digits.
///
/// ```
/// assert!(prowess_fs::digest(b"").starts_with("sha256:e3b0c442"));
/// ```
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Most names have nothing to compose.
fn nfc(path: &str) -> String {
    if path.is_ascii() { path.to_owned() } else { path.nfc().collect() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(nibble.into(), 16));
        }
        text
    })
}

/// All regular files below a folder: the NFC path that is hashed, and the path to open. A hash that leaves something out
/// would be worse than none.
fn list(root: &Folder) -> Result<Vec<(String, PathBuf)>, TreeError> {
    let limit = |what, limit: usize| Err(TreeError::Limit { what, limit: limit as u64 });
    let bounds = Bounds { depth: DEPTH_MAX, entries: ENTRIES_MAX, enter: |_| true };
    let mut files = Vec::new();
    beneath(root, bounds, &mut |met| match met {
        Met::Entry { kind: EntryKind::File, .. } if files.len() >= FILES_MAX => {
            limit("the number of files", FILES_MAX)
        }
        Met::Entry { path, kind: EntryKind::File, .. } => {
            let Some(text) = path.to_str() else { return Err(TreeError::Name(path.to_owned())) };
            files.push((nfc(text), path.to_owned()));
            Ok(())
        }
        Met::Entry { path, kind: EntryKind::Link | EntryKind::Special | EntryKind::Folder, .. } => {
            Err(TreeError::NotRegular(path.to_owned()))
        }
        Met::Closed(path, Why::Unreadable(error)) => Err(unreadable(path, error)),
        Met::Closed(_, Why::Deep) => limit("the depth of folders", DEPTH_MAX),
        Met::Closed(_, Why::Many) => limit("the number of entries", ENTRIES_MAX),
    })?;
    Ok(files)
}

fn unreadable(path: &Path, error: Errno) -> TreeError {
    TreeError::Unreadable { path: path.to_owned(), why: words(error) }
}

fn refused(path: &Path, error: ReadError) -> TreeError {
    match error {
        ReadError::NotAFile(_) => TreeError::NotRegular(path.to_owned()),
        ReadError::TooLarge(_) => TreeError::Limit { what: "the size of a file", limit: FILE_MAX },
        ReadError::Changing => TreeError::Unreadable { path: path.to_owned(), why: "it changes".to_owned() },
        ReadError::Os(error) => unreadable(path, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_hash_can_be_recomputed_by_hand() {
        let world = tempfile::tempdir().unwrap();
        fs::create_dir(world.path().join("b")).unwrap();
        fs::write(world.path().join("b/run.sh"), "echo").unwrap();
        fs::set_permissions(world.path().join("b/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(world.path().join("SKILL.md"), "x").unwrap();
        let mut by_hand = DOMAIN.to_vec();
        for (path, executable, bytes) in [("SKILL.md", 0u8, "x"), ("b/run.sh", 1, "echo")] {
            by_hand.extend((path.len() as u64).to_be_bytes());
            by_hand.extend(path.as_bytes());
            by_hand.push(executable);
            by_hand.extend((bytes.len() as u64).to_be_bytes());
            by_hand.extend(Sha256::digest(bytes.as_bytes()));
        }
        let expected = digest(&by_hand).replace("sha256:", "sha256-tree-v1:");
        assert_eq!(tree_hash(world.path()), Ok(expected));
    }

    #[test]
    fn every_change_changes_it_and_links_have_none() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("a");
        let hash = || tree_hash(world.path()).unwrap();
        fs::write(&path, "1").unwrap();
        let first = hash();
        fs::write(&path, "2").unwrap();
        let second = hash();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let third = hash();
        fs::rename(&path, world.path().join("b")).unwrap();
        let fourth = hash();
        let mut all = vec![first, second, third, fourth];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4);
        symlink("b", world.path().join("c")).unwrap();
        assert_eq!(tree_hash(world.path()), Err(TreeError::NotRegular("c".into())));
    }
}
