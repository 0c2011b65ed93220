//! `sha256-tree-v1`, a reproducible digest of a whole directory.
//!
//! The digest is the SHA-256 of a domain line followed by, for each regular file sorted by path: the length of
//! the NFC path as 8 bytes, the path with `/`, one byte for the executable bit, the size as 8 bytes, and the
//! SHA-256 of the content. Numbers are big-endian. A symlink or a special file is an error.

use std::path::{Path, PathBuf};

use rustix::io::Errno;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use crate::{Dir, EntryKind, ReadError, SkipReason, WalkEvent, WalkLimits, describe_errno, read_whole, walk};

const DOMAIN: &[u8] = b"prowess sha256-tree-v1\n";
const FILES_MAX: usize = 4_096;
/// The maximum number of files plus the same number of directories.
const ENTRIES_MAX: usize = 2 * FILES_MAX;
const FILE_MAX: u64 = 16 * 1024 * 1024;
const TOTAL_MAX: u64 = 64 * 1024 * 1024;
const DEPTH_MAX: usize = 16;

/// Why a directory has no tree hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeHashError {
    /// A symlink, FIFO, socket or device.
    #[error("{} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// A name that is not Unicode.
    #[error("the name of {} is not Unicode", .0.display())]
    NotUnicode(PathBuf),
    /// A limit was exceeded.
    #[error("{quantity} exceeds the limit of {limit}")]
    Limit {
        /// The quantity that exceeds the limit.
        quantity: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A file that changes or cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// The files of a directory with their digests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HashedTree {
    files: Vec<HashedFile>,
}

/// A file of a [`HashedTree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedFile {
    /// The path relative to the directory, in NFC, with `/`.
    pub path: String,
    /// Whether any user may execute it.
    pub executable: bool,
    /// The size in bytes.
    pub bytes: u64,
    digest: [u8; 32],
}

impl HashedFile {
    /// Returns the digest of the content: `sha256:` and hexadecimal digits.
    pub fn digest(&self) -> String {
        format!("sha256:{}", hex(&self.digest))
    }
}

impl HashedTree {
    /// Reads and hashes a directory.
    pub fn from_dir(dir: &Path) -> Result<Self, TreeHashError> {
        hash_dir(&Dir::open(dir).map_err(|error| unreadable(dir, error))?)
    }

    /// Like [`HashedTree::from_dir`], for a path that was resolved before: no component may be a symlink.
    pub fn from_resolved_dir(dir: &Path) -> Result<Self, TreeHashError> {
        hash_dir(&Dir::open_resolved(dir).map_err(|error| unreadable(dir, error))?)
    }

    /// Returns the tree of a directory that contains only this file, not executable.
    pub fn from_file(path: &Path, bytes: &[u8]) -> Self {
        let mut tree = Self::default();
        tree.add(&path.file_name().unwrap_or_default().to_string_lossy(), false, bytes);
        tree
    }

    /// Adds a file.
    ///
    /// ```
    /// let dir = tempfile::tempdir().unwrap();
    /// std::fs::write(dir.path().join("SKILL.md"), "x").unwrap();
    /// let mut tree = prowess_fs::HashedTree::default();
    /// tree.add("SKILL.md", false, b"x");
    /// assert_eq!(tree.hash(), prowess_fs::tree_hash(dir.path()).unwrap());
    /// ```
    pub fn add(&mut self, path: &str, executable: bool, bytes: &[u8]) {
        let path = nfc(path);
        let index = self.files.partition_point(|file| file.path < path);
        let digest = Sha256::digest(bytes).into();
        self.files.insert(index, HashedFile { path, executable, bytes: bytes.len() as u64, digest });
    }

    /// Adds a file, replacing any with the same path.
    pub fn replace(&mut self, path: &str, executable: bool, bytes: &[u8]) {
        self.remove(path);
        self.add(path, executable, bytes);
    }

    /// Removes the file with this path, and returns it.
    pub fn remove(&mut self, path: &str) -> Option<HashedFile> {
        let normalized = nfc(path);
        let index = self.files.iter().position(|file| file.path == normalized)?;
        Some(self.files.remove(index))
    }

    /// Gives a file another path, replacing any with that path.
    pub fn rename(&mut self, from: &str, to: &str) {
        let Some(file) = self.remove(from) else { return };
        self.remove(to);
        let path = nfc(to);
        let index = self.files.partition_point(|file| file.path < path);
        self.files.insert(index, HashedFile { path, ..file });
    }

    /// Returns the files, sorted by path.
    pub fn files(&self) -> &[HashedFile] {
        &self.files
    }

    /// Returns the file with this path.
    pub fn file(&self, path: &str) -> Option<&HashedFile> {
        let index = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(index)
    }

    /// Returns the tree hash, with the prefix `sha256-tree-v1:`.
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

/// Returns the tree hash of a directory, with the prefix `sha256-tree-v1:`.
///
/// ```
/// let dir = tempfile::tempdir().unwrap();
/// std::fs::write(dir.path().join("SKILL.md"), "x").unwrap();
/// let hash = prowess_fs::tree_hash(dir.path()).unwrap();
/// assert!(hash.starts_with("sha256-tree-v1:"));
/// ```
pub fn tree_hash(dir: &Path) -> Result<String, TreeHashError> {
    HashedTree::from_dir(dir).map(|tree| tree.hash())
}

/// Like [`tree_hash`], for a path that was resolved before: no component may be a symlink. The path may also be that of a
/// file, which is hashed like a directory that contains only this file, not executable.
pub fn tree_hash_resolved(path: &Path) -> Result<String, TreeHashError> {
    if !path.is_file() {
        return HashedTree::from_resolved_dir(path).map(|tree| tree.hash());
    }
    let (file, stat) = Dir::open_file_resolved(path).map_err(|error| unreadable(path, error))?;
    let bytes = read_whole(&file, &stat, FILE_MAX).map_err(|error| read_error(path, error))?;
    Ok(HashedTree::from_file(path, &bytes).hash())
}

fn hash_dir(root: &Dir) -> Result<HashedTree, TreeHashError> {
    let mut listed = list_files(root)?;
    listed.sort_unstable();
    let mut files = Vec::with_capacity(listed.len());
    let mut total = 0;
    for (name, path) in listed {
        let (file, stat) = root.open_file(&path).map_err(|error| unreadable(&path, error))?;
        let bytes = read_whole(&file, &stat, FILE_MAX).map_err(|error| read_error(&path, error))?;
        total += bytes.len() as u64;
        if total > TOTAL_MAX {
            return Err(TreeHashError::Limit { quantity: "the total size", limit: TOTAL_MAX });
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

/// Returns the digest of bytes in its text form: `sha256:` and hexadecimal digits.
///
/// ```
/// assert!(prowess_fs::digest(b"").starts_with("sha256:e3b0c442"));
/// ```
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Normalizes a path to NFC. Most paths are ASCII and need no normalization.
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

/// Returns all regular files below a directory, each with the NFC path that is hashed and the path to open.
/// Fails instead of leaving anything out.
fn list_files(root: &Dir) -> Result<Vec<(String, PathBuf)>, TreeHashError> {
    let limit = |quantity, limit: usize| Err(TreeHashError::Limit { quantity, limit: limit as u64 });
    let limits = WalkLimits { depth: DEPTH_MAX, entries: ENTRIES_MAX, enter: |_| true };
    let mut files = Vec::new();
    walk(root, limits, &mut |event| match event {
        WalkEvent::Entry { kind: EntryKind::File, .. } if files.len() >= FILES_MAX => {
            limit("the number of files", FILES_MAX)
        }
        WalkEvent::Entry { path, kind: EntryKind::File, .. } => {
            let Some(text) = path.to_str() else { return Err(TreeHashError::NotUnicode(path.to_owned())) };
            files.push((nfc(text), path.to_owned()));
            Ok(())
        }
        WalkEvent::Entry { path, kind: EntryKind::Symlink | EntryKind::Special | EntryKind::Dir, .. } => {
            Err(TreeHashError::NotRegular(path.to_owned()))
        }
        WalkEvent::Skipped(path, SkipReason::Unreadable(error)) => Err(unreadable(path, error)),
        WalkEvent::Skipped(_, SkipReason::TooDeep) => limit("the directory depth", DEPTH_MAX),
        WalkEvent::Skipped(_, SkipReason::TooManyEntries) => limit("the number of entries", ENTRIES_MAX),
    })?;
    Ok(files)
}

fn unreadable(path: &Path, error: Errno) -> TreeHashError {
    TreeHashError::Unreadable { path: path.to_owned(), reason: describe_errno(error) }
}

fn read_error(path: &Path, error: ReadError) -> TreeHashError {
    match error {
        ReadError::NotAFile(_) => TreeHashError::NotRegular(path.to_owned()),
        ReadError::TooLarge(_) => TreeHashError::Limit { quantity: "the size of a file", limit: FILE_MAX },
        ReadError::Changing => TreeHashError::Unreadable { path: path.to_owned(), reason: error.to_string() },
        ReadError::Os(error) => unreadable(path, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_hash_matches_its_specification() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("b")).unwrap();
        fs::write(temp.path().join("b/run.sh"), "echo").unwrap();
        fs::set_permissions(temp.path().join("b/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(temp.path().join("SKILL.md"), "x").unwrap();
        let mut expected_input = DOMAIN.to_vec();
        for (path, executable, bytes) in [("SKILL.md", 0u8, "x"), ("b/run.sh", 1, "echo")] {
            expected_input.extend((path.len() as u64).to_be_bytes());
            expected_input.extend(path.as_bytes());
            expected_input.push(executable);
            expected_input.extend((bytes.len() as u64).to_be_bytes());
            expected_input.extend(Sha256::digest(bytes.as_bytes()));
        }
        let expected = digest(&expected_input).replace("sha256:", "sha256-tree-v1:");
        assert_eq!(tree_hash(temp.path()), Ok(expected));
    }

    #[test]
    fn every_change_changes_the_hash_and_symlinks_are_errors() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a");
        let hash = || tree_hash(temp.path()).unwrap();
        fs::write(&path, "1").unwrap();
        let first = hash();
        fs::write(&path, "2").unwrap();
        let second = hash();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let third = hash();
        fs::rename(&path, temp.path().join("b")).unwrap();
        let fourth = hash();
        let mut all = vec![first, second, third, fourth];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4);
        symlink("b", temp.path().join("c")).unwrap();
        assert_eq!(tree_hash(temp.path()), Err(TreeHashError::NotRegular("c".into())));
    }
}
