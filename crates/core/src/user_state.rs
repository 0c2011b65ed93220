//! Reads and updates the JSON files of the user's state that decide whether skills may be used.
//!
//! Invariant: a file that cannot be read grants nothing and is never overwritten.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::file_diagnostic::FileDiagnostic;
use prowess_fs::{Dir, Errno, describe_errno, lock, read_whole, write_private};

/// The newest schema of these files that this version can read.
const SCHEMA: u32 = 1;

/// The reason why trust or an approval could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no home directory for the state.
    #[error("no home directory to store trust in; set HOME or pass --home")]
    NoHome,
    /// The directory does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The state file exists but cannot be read. It is not overwritten.
    #[error("cannot read {}: {}", .0.path.display(), .0.diagnostic.message)]
    Unreadable(Box<FileDiagnostic>),
    /// The state file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The state file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// The contents of a state file.
pub(crate) trait UserState: Default + Serialize + DeserializeOwned {
    /// The largest file that is read, in bytes.
    const BYTES_MAX: u64;

    /// Returns the schema version of the file.
    fn schema(&mut self) -> &mut u32;

    /// Sorts the entries for writing.
    fn sort(&mut self);
}

/// Reads a state file; a missing file counts as empty.
pub(crate) fn read_state<S: UserState>(path: &Path) -> Result<S, String> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return Ok(S::default()) };
    let opened = Dir::open(dir).and_then(|dir| dir.open_file(Path::new(name)));
    let (file, stat) = match opened {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(S::default()),
        Err(error) => return Err(describe_errno(error)),
    };
    let bytes = read_whole(&file, &stat, S::BYTES_MAX).map_err(|error| error.to_string())?;
    let mut state: S = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if *state.schema() > SCHEMA { Err("written by a newer version".to_owned()) } else { Ok(state) }
}

/// Updates a state file under its file lock. `load` reads it, or returns why it cannot be read.
pub(crate) fn update_state<S: UserState, T>(
    path: Option<PathBuf>,
    load: impl FnOnce() -> (S, Option<FileDiagnostic>),
    change: impl FnOnce(&mut S) -> T,
) -> Result<T, TrustError> {
    let path = path.ok_or(TrustError::NoHome)?;
    let write = |source: std::io::Error| TrustError::Write { path: path.clone(), source };
    let _lock = lock(&path).map_err(write)?;
    let mut state = match load() {
        (state, None) => state,
        (_, Some(problem)) => return Err(TrustError::Unreadable(Box::new(problem))),
    };
    *state.schema() = SCHEMA;
    let result = change(&mut state);
    state.sort();
    let bytes = serde_json::to_vec_pretty(&state).map_err(|error| write(error.into()))?;
    write_private(&path, &bytes).map_err(write)?;
    Ok(result)
}
