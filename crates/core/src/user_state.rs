//! Reading and changing a JSON file of the user's state that decides what may be used.
//!
//! What must always hold: a file that cannot be read grants nothing, and is never overwritten.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::located::Located;
use prowess_fs::{Errno, Folder, lock, read_whole, replace, words};

/// The newest schema of these files that this version can read.
const SCHEMA: u32 = 1;

/// Why trust could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no home to keep it in.
    #[error("there is no home directory to keep trust in; set HOME or use --home")]
    NoHome,
    /// The folder does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The state is there and cannot be understood; it is not overwritten.
    #[error("{} cannot be read: {}", .0.path.display(), .0.diagnostic.message)]
    State(Box<Located>),
    /// The state cannot be written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The state's file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The contents of such a file.
pub(crate) trait UserState: Default + Serialize + DeserializeOwned {
    /// The largest file that is read.
    const BYTES_MAX: u64;

    /// The schema that the file was written with.
    fn schema(&mut self) -> &mut u32;

    /// Puts the entries in the order in which they are written.
    fn sort(&mut self);
}

/// Reads a file; one that does not exist is empty.
pub(crate) fn read<S: UserState>(path: &Path) -> Result<S, String> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(S::default()) };
    let opened = Folder::open(folder).and_then(|folder| folder.file(Path::new(name)));
    let (file, stat) = match opened {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(S::default()),
        Err(error) => return Err(words(error)),
    };
    let bytes = read_whole(&file, &stat, S::BYTES_MAX).map_err(|error| error.to_string())?;
    let mut state: S = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if *state.schema() > SCHEMA { Err("written by a newer version".to_owned()) } else { Ok(state) }
}

/// Changes a file while no other process does. `load` reads it, or says why it cannot be read.
pub(crate) fn change<S: UserState, T>(
    path: Option<PathBuf>,
    load: impl FnOnce() -> (S, Option<Located>),
    change: impl FnOnce(&mut S) -> T,
) -> Result<T, TrustError> {
    let path = path.ok_or(TrustError::NoHome)?;
    let write = |source: std::io::Error| TrustError::Write { path: path.clone(), source };
    let _lock = lock(&path).map_err(write)?;
    let mut state = match load() {
        (state, None) => state,
        (_, Some(problem)) => return Err(TrustError::State(Box::new(problem))),
    };
    *state.schema() = SCHEMA;
    let result = change(&mut state);
    state.sort();
    let bytes = serde_json::to_vec_pretty(&state).map_err(|error| write(error.into()))?;
    replace(&path, &bytes).map_err(write)?;
    Ok(result)
}
