//! The `ReadFile` tool of preset `app` (document 000): reads any text file below the run directory, by extension.
//!
//! Invariants: a path is resolved against the run directory and stays below it, symlinks that leave it are
//! rejected, nothing is executed, and the hard size limit applies.

use std::fs;
use std::path::{Path, PathBuf};

use super::open::FILE_MAX;
use super::path::RelativePath;
use super::{ReadResourceError, Resource, to_text_resource};
use crate::policy::Policy;
use crate::skill::display_text;
use prowess_fs::{Dir, Errno, read_whole};

/// The default extensions.
pub const DEFAULT_EXTENSIONS: [&str; 7] = [".md", ".cs", ".py", ".txt", ".json", ".yml", ".yaml"];

/// The default limit of returned text, in bytes.
const DEFAULT_LIMIT: u64 = 2_000_000;

/// Reads text files below one directory.
///
/// ```
/// use prowess::resources::ReadFileTool;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// std::fs::write(root.join("notes.md"), "# Notes")?;
/// let tool = ReadFileTool::new(root);
/// assert_eq!(tool.read("notes.md")?.content, "# Notes");
/// assert!(tool.read("../notes.md").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFileTool {
    /// The run directory.
    pub root: PathBuf,
    /// The accepted extensions, each with its dot, case-insensitive.
    pub extensions: Vec<String>,
    /// The maximum number of bytes that are returned; the rest is truncated with a notice.
    pub limit: u64,
}

impl ReadFileTool {
    /// Returns a reader for this directory with the default extensions.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let extensions = DEFAULT_EXTENSIONS.map(str::to_owned).to_vec();
        Self { root: root.into(), extensions, limit: DEFAULT_LIMIT }
    }

    /// Returns a reader for this directory with the extensions and the limit of a policy.
    pub fn with_policy(root: impl Into<PathBuf>, policy: &Policy) -> Self {
        let extensions = policy.read_extensions.clone();
        Self { root: root.into(), extensions, limit: policy.limits.resource_bytes }
    }

    /// Reads a file. A `..` may cancel the directory before it, but not leave the run directory.
    pub fn read(&self, path: &str) -> Result<Resource, ReadResourceError> {
        let inner = RelativePath::resolve(path)?;
        let path = inner.as_str();
        if inner.is_root() {
            return Err(ReadResourceError::Directory { path: ".".to_owned() });
        }
        let root = Dir::open(&self.root)
            .map_err(|error| ReadResourceError::from_errno("the run directory", error))?;
        if let Err(error) = self.check_extension(path) {
            let is_dir = root.open_dir(Path::new(path)).is_ok();
            return Err(if is_dir {
                ReadResourceError::Directory { path: display_text(path) }
            } else {
                error
            });
        }
        let opened = match root.open_file(Path::new(path)) {
            Err(Errno::LOOP) => {
                // The target is only a hint: it is opened again from the root without following symlinks.
                let target = self.resolve_link(path)?;
                self.check_extension(&target.to_string_lossy())?;
                root.open_file(&target)
            }
            opened => opened,
        };
        let (file, stat) = opened.map_err(|error| ReadResourceError::from_errno(path, error))?;
        let bytes = read_whole(&file, &stat, FILE_MAX)
            .map_err(|error| ReadResourceError::from_read_error(path, error, FILE_MAX))?;
        to_text_resource(String::new(), inner, bytes, self.limit)
    }

    /// Returns the target of a symlink, relative to the root.
    fn resolve_link(&self, path: &str) -> Result<PathBuf, ReadResourceError> {
        let missing = |_| ReadResourceError::NotFound { path: display_text(path), nearest: None };
        let root = fs::canonicalize(&self.root).map_err(missing)?;
        let target = fs::canonicalize(root.join(path)).map_err(missing)?;
        match target.strip_prefix(&root) {
            Ok(inner) if !inner.as_os_str().is_empty() => Ok(inner.to_owned()),
            Ok(_) => Err(ReadResourceError::Directory { path: display_text(path) }),
            Err(_) => Err(ReadResourceError::LinkOutside { path: display_text(path) }),
        }
    }

    fn check_extension(&self, path: &str) -> Result<(), ReadResourceError> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = name.rfind('.').map_or("", |dot| &name[dot..]);
        if self.extensions.iter().any(|allowed| allowed.eq_ignore_ascii_case(extension)) {
            return Ok(());
        }
        Err(ReadResourceError::Extension {
            extension: display_text(extension),
            allowed: self.extensions.clone(),
        })
    }
}
