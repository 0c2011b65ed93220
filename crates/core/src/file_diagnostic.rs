//! A diagnostic and the file it is about.

use std::path::{Path, PathBuf};

use prowess_format::Diagnostic;

/// A diagnostic and the file or directory it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiagnostic {
    /// The file or directory.
    pub path: PathBuf,
    /// The diagnostic.
    pub diagnostic: Diagnostic,
}

impl FileDiagnostic {
    /// Attaches a diagnostic to a path.
    pub fn new(path: impl AsRef<Path>, diagnostic: Diagnostic) -> Self {
        Self { path: path.as_ref().to_owned(), diagnostic }
    }
}
