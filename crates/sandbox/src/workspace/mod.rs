//! The workspace: the directory in which a script reads and writes files.
//!
//! A script always works on a copy. Files of the user are copied in before the run ([`copy_in`]); after all processes of
//! the script have ended, its changes are collected ([`collect`]) and, for a directory of the user, applied ([`apply`]).
//! No link, race or file name of a script can therefore reach a file of the user, in any tier, and a script that is killed
//! changes nothing.

mod apply;
mod collect;
mod copy_in;
mod error;
mod grants;
mod paths;
mod staging;

use std::io;
use std::path::{Path, PathBuf};

use prowess::HostEnv;
use prowess_archive::InnerPath;
use prowess_fs::{Dir, read_whole};
use serde::Serialize;

pub use error::ScriptFilesError;
pub use grants::check_workspace;

pub(super) use collect::{Changes, ProtectedFiles};
pub(super) use copy_in::{
    CopiedTree, CopyLimits, add_inputs, copy_dir, copy_file, copy_workspace, write_inputs,
};
pub(super) use grants::resolve_read_grants;
pub(super) use paths::PathMap;

use super::run_dir::RunDir;

/// The directory in which a script reads and writes files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Workspace {
    /// A new directory with these files. It exists until the result of the run is dropped.
    Temporary(Vec<InputFile>),
    /// A directory of the user. The changes of the script are applied to it after the script has ended by itself.
    Directory(PathBuf),
    /// A directory of the user, as [`Self::Directory`], with more files. They exist only for the script, under names that
    /// nothing in the directory has; those that the script changes are applied like files that it creates.
    DirectoryWithInputs(PathBuf, Vec<InputFile>),
}

impl Default for Workspace {
    fn default() -> Self {
        Self::Temporary(Vec::new())
    }
}

/// A file that is put into a workspace.
///
/// ```
/// use prowess_sandbox::InputFile;
///
/// assert!(InputFile::new("data/in.csv", b"a,b\n".to_vec()).is_ok());
/// assert!(InputFile::new("../in.csv", Vec::new()).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    pub(super) path: InnerPath,
    pub(super) bytes: Vec<u8>,
    pub(super) executable: bool,
}

impl InputFile {
    /// Creates an input from its path in the workspace and its content.
    pub fn new(path: &str, bytes: Vec<u8>) -> Result<Self, ScriptFilesError> {
        let parsed = InnerPath::parse(path.as_bytes()).map_err(|reason| ScriptFilesError::InvalidInput {
            path: prowess::format::hidden::escape_for_display(path).into_owned(),
            reason,
        })?;
        Ok(Self { path: parsed, bytes, executable: false })
    }

    /// Makes the file executable.
    pub fn executable(self) -> Self {
        Self { executable: true, ..self }
    }

    /// Returns the path in the workspace.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }

    /// Returns the content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A file that a script created or changed in its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Artifact {
    /// The path in the workspace, with `/`.
    pub path: String,
    /// The size in bytes.
    #[serde(rename = "bytes")]
    pub size: u64,
    /// The media type, guessed from the content and the name.
    pub media_type: &'static str,
    /// The digest of the content: `sha256:` and hexadecimal digits.
    pub digest: String,
}

/// The workspace of a script that has ended. Dropping it deletes the files.
#[derive(Debug)]
pub struct FinishedWorkspace {
    run_dir: RunDir,
    changes: Changes,
}

impl FinishedWorkspace {
    pub(super) fn new(run_dir: RunDir, changes: Changes) -> Self {
        Self { run_dir, changes }
    }

    /// Returns the files that the script created or changed, sorted by path.
    pub fn artifacts(&self) -> &[Artifact] {
        &self.changes.artifacts
    }

    /// Returns the files that the script removed, sorted by path.
    pub fn removed(&self) -> &[String] {
        &self.changes.removed
    }

    /// Returns the content of an artifact.
    pub fn read(&self, artifact: &Artifact) -> io::Result<Vec<u8>> {
        let dir = Dir::open(&self.run_dir.workspace)?;
        let (file, stat) = dir.open_file(Path::new(&artifact.path))?;
        read_whole(&file, &stat, artifact.size).map_err(io::Error::other)
    }

    /// Copies the artifacts into a directory, which is created if necessary. Existing files are replaced, but no symlink is
    /// followed. Directories that cannot be a workspace are refused.
    pub fn copy_artifacts(&self, target: &Path, env: &HostEnv) -> Result<(), ScriptFilesError> {
        let unwritable = |error| ScriptFilesError::Unwritable { path: target.to_owned(), error };
        prowess_fs::create_dir_all(target).map_err(unwritable)?;
        let resolved = check_workspace(target, env)?;
        let program_dirs = grants::program_dirs(env);
        let is_program = |path: &PathBuf| program_dirs.iter().any(|dir| path.starts_with(dir));
        let mut paths = self.changes.artifacts.iter().map(|artifact| resolved.join(&artifact.path));
        if let Some(path) = paths.find(is_program) {
            return Err(ScriptFilesError::Refused {
                path,
                reason: "is in PATH: programs are started from it",
            });
        }
        let dir = Dir::open_resolved(&resolved).map_err(|error| unwritable(error.into()))?;
        apply::apply(&self.run_dir.workspace, &dir, &self.changes.only_artifacts(), apply::Overwrite::Any)
    }

    /// Applies all changes to the directory that was copied in.
    pub(super) fn apply_to(&self, target: &Dir, copied: &CopiedTree) -> Result<(), ScriptFilesError> {
        apply::apply(&self.run_dir.workspace, target, &self.changes, apply::Overwrite::Unchanged(copied))
    }
}
