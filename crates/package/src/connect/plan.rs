//! Plans changes of an entry in a client's configuration.

use std::path::PathBuf;

use prowess_format::Value;

use super::change::{self, ConnectAction, FileChange};
use super::client_env::ClientEnv;
use super::clients::Client;
use super::entry_format;
use super::error::ConnectError;
use super::server::{ServerName, ServerSpec};
use crate::install_target::InstallScope;
use prowess_config::edit::entry::{self, ConfigFormat, FoundEntry};

/// A planned change of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectPlan {
    /// The client.
    pub client: &'static Client,
    /// The name of the entry.
    pub name: ServerName,
    /// The current entry with that name, and its line.
    pub current: Option<(Value, u32)>,
    /// The change of the file.
    pub change: FileChange,
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
    let change = FileChange { scope, file, action, before, after };
    Ok(ConnectPlan { client, name: name.clone(), current, change })
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
    let change = FileChange { scope, file, action, before, after };
    Ok(ConnectPlan { client, name: name.clone(), current, change })
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
        let Some(text) = change::read_config(path)? else { continue };
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
