//! Plans and performs changes of a client's file.

use std::fs;
use std::path::{Path, PathBuf};

use prowess_format::Value;

use super::client_env::ClientEnv;
use super::clients::Client;
use super::diff::ConfigDiff;
use super::entry_format;
use super::error::ConnectError;
use super::server::{ServerName, ServerSpec};
use crate::install_target::InstallScope;
use prowess_config::edit::entry::{self, ConfigFormat, FoundEntry};
use prowess_config::edit::file::{self, EditFileError};

/// The largest file that is changed. Claude Code keeps its history in the same file as its settings.
pub const FILE_MAX: u64 = 16 * 1024 * 1024;

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

/// A planned change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectPlan {
    /// The client.
    pub client: &'static Client,
    /// The user or a project.
    pub scope: InstallScope,
    /// The name of the entry.
    pub name: ServerName,
    /// The file to change.
    pub file: PathBuf,
    /// The action.
    pub action: ConnectAction,
    /// The current entry with that name, and its line.
    pub current: Option<(Value, u32)>,
    before: Option<String>,
    after: String,
}

/// Plans how to add an entry to a client's configuration.
pub fn plan_install(
    env: &ClientEnv,
    client: &'static Client,
    scope: InstallScope,
    name: &ServerName,
    server: &ServerSpec,
) -> Result<ConnectPlan, ConnectError> {
    let new_entry = entry_format::build_entry(client, name, server)?;
    let (file, before, existing) = find_entry(env, client, scope, name)?;
    let text = before.clone().unwrap_or_default();
    let (action, new_entry) = match &existing {
        None => (ConnectAction::Add, new_entry),
        Some(existing) => match entry_format::merge_entry(&existing.value, &new_entry, server) {
            merged if merged == existing.value => (ConnectAction::Keep, merged),
            merged => (ConnectAction::Replace, merged),
        },
    };
    let after = match action {
        ConnectAction::Keep => text,
        _ => entry::put(&text, client.format, [client.section, name.as_str()], &new_entry)
            .map_err(|source| ConnectError::Entry { path: file.clone(), source })?,
    };
    let current = existing.map(|existing| (existing.value, existing.line));
    Ok(ConnectPlan { client, scope, name: name.clone(), file, action, current, before, after })
}

/// Plans how to remove an entry from a client's configuration.
pub fn plan_uninstall(
    env: &ClientEnv,
    client: &'static Client,
    scope: InstallScope,
    name: &ServerName,
) -> Result<ConnectPlan, ConnectError> {
    let (file, before, existing) = find_entry(env, client, scope, name)?;
    let text = before.clone().unwrap_or_default();
    let action = match &existing {
        None => ConnectAction::Absent,
        Some(existing) if entry_format::is_ours(name, &existing.value) => ConnectAction::Remove,
        Some(_) => ConnectAction::RemoveOther,
    };
    let mut after = entry::remove(&text, client.format, [client.section, name.as_str()])
        .map_err(|source| ConnectError::Entry { path: file.clone(), source })?;
    // A file behind a symlink is kept, and an empty file is not valid JSON.
    if after.is_empty() && client.format == ConfigFormat::Json && file.is_symlink() {
        after = "{}\n".to_owned();
    }
    let current = existing.map(|existing| (existing.value, existing.line));
    Ok(ConnectPlan { client, scope, name: name.clone(), file, action, current, before, after })
}

type EntryLookup = (PathBuf, Option<String>, Option<FoundEntry>);

/// Returns the file to change, its text, and the entry: the file with the entry, else the first file that exists,
/// else the first file.
pub(super) fn find_entry(
    env: &ClientEnv,
    client: &Client,
    scope: InstallScope,
    name: &ServerName,
) -> Result<EntryLookup, ConnectError> {
    let mut existing: Option<EntryLookup> = None;
    let files = env.files(client, scope)?;
    for path in &files {
        let Some(text) = read_config(path)? else { continue };
        let entry = entry::find(&text, client.format, [client.section, name.as_str()])
            .map_err(|source| ConnectError::Entry { path: path.clone(), source })?;
        if entry.is_some() {
            return Ok((path.clone(), Some(text), entry));
        }
        existing.get_or_insert((path.clone(), Some(text), None));
    }
    let first = files.into_iter().next();
    existing.or_else(|| first.map(|path| (path, None, None))).ok_or(ConnectError::NoHome)
}

fn read_config(path: &Path) -> Result<Option<String>, ConnectError> {
    Ok(file::read_text_within(path, FILE_MAX)?)
}

impl ConnectPlan {
    /// Returns the lines that change.
    pub fn diff(&self) -> ConfigDiff {
        ConfigDiff::between(self.before.as_deref().unwrap_or_default(), &self.after)
    }

    /// Returns `true` if the file is created for the entry.
    pub fn creates_file(&self) -> bool {
        self.action.is_change() && self.before.is_none()
    }

    /// Returns `true` if the file is removed because it contained only the entry.
    pub fn removes_file(&self) -> bool {
        self.action.is_change() && self.after.is_empty() && !self.file.is_symlink()
    }

    /// Performs the change, unless the file changed after the plan was made.
    pub fn perform(&self, env: &ClientEnv) -> Result<(), ConnectError> {
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
