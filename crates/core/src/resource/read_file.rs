//! `ReadFile` of document 000: any text file under the run directory, by its ending.
//!
//! What must always hold: the path is resolved against the run directory and stays under it, links that leave
//! it are refused, nothing is run, and no more is read than the hard cap.

use std::fs;
use std::path::{Path, PathBuf};

use super::path::Inner;
use super::place::FILE_MAX;
use super::{AccessError, Resource, as_text};
use crate::policy::Policy;
use crate::skill::shown;
use prowess_fs::{Errno, Folder, read_whole};

/// The endings that are read unless somebody says otherwise.
pub const EXTENSIONS: [&str; 7] = [".md", ".cs", ".py", ".txt", ".json", ".yml", ".yaml"];

/// How much of a file is handed out unless somebody says otherwise, in bytes.
const LIMIT: u64 = 2_000_000;

/// A reader of text files under one directory.
///
/// ```
/// use prowess::resource::ReadFile;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path();
/// std::fs::write(root.join("notes.md"), "# Notes")?;
/// let tool = ReadFile::new(root);
/// assert_eq!(tool.read("notes.md")?.content, "# Notes");
/// assert!(tool.read("../notes.md").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// The run directory.
    pub root: PathBuf,
    /// The endings that are read, each with its dot; capitals make no difference.
    pub extensions: Vec<String>,
    /// The most bytes that are handed out; what is more is cut, and said.
    pub limit: u64,
}

impl ReadFile {
    /// A reader under this directory, for the usual endings.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let extensions = EXTENSIONS.map(str::to_owned).to_vec();
        Self { root: root.into(), extensions, limit: LIMIT }
    }

    /// A reader under this directory, for the endings and the limit of a policy.
    pub fn with_policy(root: impl Into<PathBuf>, policy: &Policy) -> Self {
        let extensions = policy.read_extensions.clone();
        Self { root: root.into(), extensions, limit: policy.limits.resource_bytes }
    }

    /// Reads one file. A `..` may take back a folder before it, but not lead out.
    pub fn read(&self, path: &str) -> Result<Resource, AccessError> {
        let inner = Inner::resolve(path)?;
        let path = inner.as_str();
        if inner.is_folder() {
            return Err(AccessError::Directory { path: ".".to_owned() });
        }
        let root = Folder::open(&self.root).map_err(|error| AccessError::os("the run directory", error))?;
        if let Err(refused) = self.check_extension(path) {
            let is_folder = root.folder(Path::new(path)).is_ok();
            return Err(if is_folder { AccessError::Directory { path: shown(path) } } else { refused });
        }
        let opened = match root.file(Path::new(path)) {
            Err(Errno::LOOP) => {
                // Where the link leads is only a hint: it is opened without links, from the root again.
                let target = self.target(path)?;
                self.check_extension(&target.to_string_lossy())?;
                root.file(&target)
            }
            opened => opened,
        };
        let (file, stat) = opened.map_err(|error| AccessError::os(path, error))?;
        let bytes =
            read_whole(&file, &stat, FILE_MAX).map_err(|error| AccessError::read(path, error, FILE_MAX))?;
        as_text(String::new(), inner, bytes, self.limit)
    }

    /// Where a link leads, below the root.
    fn target(&self, path: &str) -> Result<PathBuf, AccessError> {
        let missing = |_| AccessError::NotFound { path: shown(path), nearest: None };
        let root = fs::canonicalize(&self.root).map_err(missing)?;
        let target = fs::canonicalize(root.join(path)).map_err(missing)?;
        match target.strip_prefix(&root) {
            Ok(inner) if !inner.as_os_str().is_empty() => Ok(inner.to_owned()),
            Ok(_) => Err(AccessError::Directory { path: shown(path) }),
            Err(_) => Err(AccessError::LinkOut { path: shown(path) }),
        }
    }

    fn check_extension(&self, path: &str) -> Result<(), AccessError> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rfind('.').map_or("", |at| &name[at..]);
        if self.extensions.iter().any(|allowed| allowed.eq_ignore_ascii_case(ending)) {
            return Ok(());
        }
        Err(AccessError::Extension { found: shown(ending), allowed: self.extensions.clone() })
    }
}
