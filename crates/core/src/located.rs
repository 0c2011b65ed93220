//! A diagnostic and the file it is about.

use std::path::{Path, PathBuf};

use prowess_format::Diagnostic;

/// A diagnostic and the file or folder it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file or folder.
    pub path: PathBuf,
    /// What is said about it.
    pub diagnostic: Diagnostic,
}

impl Located {
    /// Says something about a file.
    pub fn new(path: impl AsRef<Path>, diagnostic: Diagnostic) -> Self {
        Self { path: path.as_ref().to_owned(), diagnostic }
    }
}
