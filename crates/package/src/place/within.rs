//! A project's skills stay in the project, whatever its links lead to.

use std::fs;
use std::path::{Component, Path};

use crate::error::PackageError;

/// Refuses a folder that links lead out of the project, or into its `.git`. It need not be there yet.
pub(super) fn within(base: &Path, folder: &Path) -> Result<(), PackageError> {
    let outside = |why| PackageError::Outside { path: folder.to_owned(), why };
    let there = folder.ancestors().find(|above| fs::symlink_metadata(above).is_ok()).unwrap_or(folder);
    let real = fs::canonicalize(there).map_err(|_| outside("it is a link that leads nowhere"))?;
    let base = fs::canonicalize(base).map_err(PackageError::io("found", base))?;
    let Ok(inner) = real.strip_prefix(base) else { return Err(outside("a link leads out of the project")) };
    match inner.components().any(|step| step == Component::Normal(".git".as_ref())) {
        true => Err(outside("a link leads into the project's .git")),
        false => Ok(()),
    }
}
