//! Changes of a client's file: what changes, and performing it.

use std::fs;
use std::path::{Path, PathBuf};

use super::client_env::ClientEnv;
use super::diff::ConfigDiff;
use crate::install_target::InstallScope;
use prowess_config::edit::file::{self, EditFileError};

/// The largest file that is changed. Claude Code keeps its history in the same file as its settings.
const FILE_MAX: u64 = 16 * 1024 * 1024;

/// The action of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectAction {
    /// Adds the entry.
    Add,
    /// Replaces another entry with the same name; needs consent.
    Replace,
    /// Does nothing: the entry exists.
    Keep,
    /// Removes the entry.
    Remove,
    /// Removes an entry that does not look like one of ours; needs consent.
    RemoveOther,
    /// Does nothing: there is no entry to remove.
    Absent,
}

impl ConnectAction {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Keep => "keep",
            Self::Remove | Self::RemoveOther => "remove",
            Self::Absent => "absent",
        }
    }

    /// Returns `true` if the user should confirm the action.
    pub fn needs_consent(self) -> bool {
        matches!(self, Self::Replace | Self::RemoveOther)
    }

    /// Returns `true` if the file changes.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Keep | Self::Absent)
    }
}

/// A planned change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The user or a project.
    pub scope: InstallScope,
    /// The file to change.
    pub file: PathBuf,
    /// The action.
    pub action: ConnectAction,
    /// The text before the change; `None` if the file does not exist.
    pub(super) before: Option<String>,
    /// The text after the change. If it is empty, the file is removed.
    pub(super) after: String,
}

/// Reads a client's file; `None` if it does not exist.
pub(super) fn read_config(path: &Path) -> Result<Option<String>, EditFileError> {
    file::read_text_within(path, FILE_MAX)
}

impl FileChange {
    /// Returns the lines that change.
    pub fn diff(&self) -> ConfigDiff {
        ConfigDiff::between(self.before.as_deref().unwrap_or_default(), &self.after)
    }

    /// Returns `true` if the file is created for the change.
    pub fn creates_file(&self) -> bool {
        self.action.is_change() && self.before.is_none()
    }

    /// Returns `true` if the file is removed because it contained nothing else.
    pub fn removes_file(&self) -> bool {
        self.action.is_change() && self.after.is_empty() && !self.file.is_symlink()
    }

    /// Performs the change, unless the file changed after the plan was made.
    pub fn perform(&self, env: &ClientEnv) -> Result<(), EditFileError> {
        if !self.action.is_change() {
            return Ok(());
        }
        let new_text = |text: Option<&str>| match text == self.before.as_deref() {
            true => Ok(Some(self.after.clone())),
            false => Err(EditFileError::ConcurrentChange { path: self.file.clone() }),
        };
        file::edit_file_within(&self.file, env.symlink_policy(self.scope), FILE_MAX, new_text)?;
        if self.removes_file() {
            self.remove_empty_dirs(env);
        }
        Ok(())
    }

    /// Removes the directories that contained only the file, up to the home directory or the project.
    fn remove_empty_dirs(&self, env: &ClientEnv) {
        let base = match self.scope {
            InstallScope::User => env.host.home.as_deref(),
            InstallScope::Project => Some(env.host.project.as_path()),
        };
        let is_inside = |dir: &&Path| base.is_some_and(|base| *dir != base && dir.starts_with(base));
        for dir in self.file.ancestors().skip(1).take_while(is_inside) {
            // `remove_dir` fails if the directory is not empty.
            if fs::remove_dir(dir).is_err() {
                return;
            }
        }
    }
}
