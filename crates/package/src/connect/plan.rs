//! What would change in a client's file; then changing it.

use std::fs;
use std::path::{Path, PathBuf};

use prowess_format::Value;

use super::clients::Client;
use super::difference::Difference;
use super::error::ConnectError;
use super::machine::Machine;
use super::server::{Name, Server};
use super::shape;
use crate::place::For;
use prowess_config::edit::entry::{self, Form, Found};
use prowess_config::edit::file::{self, FileError};

/// The largest file that is changed. Claude Code keeps its history beside its settings.
pub const FILE_MAX: u64 = 16 * 1024 * 1024;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// There is no entry of that name: it is added.
    Add,
    /// There is another: it is replaced, but only if the caller says so.
    Replace,
    /// It is there already.
    Keep,
    /// It is taken away.
    Remove,
    /// It is there, and does not look like one of ours: it is taken away only if the caller says so.
    RemoveOther,
    /// There is none to take away.
    Absent,
}

impl Action {
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

    /// Whether somebody should be asked first.
    pub fn needs_consent(self) -> bool {
        matches!(self, Self::Replace | Self::RemoveOther)
    }

    /// Whether a file changes.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Keep | Self::Absent)
    }
}

/// A change that was worked out and not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// For whom.
    pub client: &'static Client,
    /// For the user or a project.
    pub scope: For,
    /// What the entry is called.
    pub name: Name,
    /// The file.
    pub file: PathBuf,
    /// What is done to it.
    pub action: Action,
    /// What is there under that name, with its line.
    pub present: Option<(Value, u32)>,
    before: Option<String>,
    after: String,
}

/// Works out how an entry gets into a client's configuration.
pub fn plan_install(
    machine: &Machine,
    client: &'static Client,
    scope: For,
    name: &Name,
    server: &Server,
) -> Result<Plan, ConnectError> {
    let wanted = shape::entry(client, name, server)?;
    let (file, before, found) = look(machine, client, scope, name)?;
    let text = before.clone().unwrap_or_default();
    let (action, wanted) = match &found {
        None => (Action::Add, wanted),
        Some(found) => match shape::merged(&found.value, &wanted, server) {
            merged if merged == found.value => (Action::Keep, merged),
            merged => (Action::Replace, merged),
        },
    };
    let after = match action {
        Action::Keep => text,
        _ => entry::put(&text, client.form, [client.section, name.as_str()], &wanted)
            .map_err(|source| ConnectError::Entry { path: file.clone(), source })?,
    };
    let present = found.map(|found| (found.value, found.line));
    Ok(Plan { client, scope, name: name.clone(), file, action, present, before, after })
}

/// Works out how an entry goes again.
pub fn plan_uninstall(
    machine: &Machine,
    client: &'static Client,
    scope: For,
    name: &Name,
) -> Result<Plan, ConnectError> {
    let (file, before, found) = look(machine, client, scope, name)?;
    let text = before.clone().unwrap_or_default();
    let action = match &found {
        None => Action::Absent,
        Some(found) if shape::is_ours(&found.value) => Action::Remove,
        Some(_) => Action::RemoveOther,
    };
    let mut after = entry::take(&text, client.form, [client.section, name.as_str()])
        .map_err(|source| ConnectError::Entry { path: file.clone(), source })?;
    // A file behind a link stays, and no text at all is no JSON.
    if after.is_empty() && client.form == Form::Json && file.is_symlink() {
        after = "{}\n".to_owned();
    }
    let present = found.map(|found| (found.value, found.line));
    Ok(Plan { client, scope, name: name.clone(), file, action, present, before, after })
}

type Looked = (PathBuf, Option<String>, Option<Found>);

/// The file to change, its text, and the entry in it: the file that has the entry, else the first that is there, else
/// the first.
pub(super) fn look(
    machine: &Machine,
    client: &Client,
    scope: For,
    name: &Name,
) -> Result<Looked, ConnectError> {
    let mut there: Option<Looked> = None;
    let files = machine.files(client, scope)?;
    for path in &files {
        let Some(text) = read(path)? else { continue };
        let found = entry::find(&text, client.form, [client.section, name.as_str()])
            .map_err(|source| ConnectError::Entry { path: path.clone(), source })?;
        if found.is_some() {
            return Ok((path.clone(), Some(text), found));
        }
        there.get_or_insert((path.clone(), Some(text), None));
    }
    let first = files.into_iter().next();
    there.or_else(|| first.map(|path| (path, None, None))).ok_or(ConnectError::NoHome)
}

fn read(path: &Path) -> Result<Option<String>, ConnectError> {
    Ok(file::read_within(path, FILE_MAX)?)
}

impl Plan {
    /// The lines that change.
    pub fn difference(&self) -> Difference {
        Difference::of(self.before.as_deref().unwrap_or_default(), &self.after)
    }

    /// Whether the file is made for the entry.
    pub fn makes_file(&self) -> bool {
        self.action.is_change() && self.before.is_none()
    }

    /// Whether the file goes with the entry, because it held nothing else.
    pub fn removes_file(&self) -> bool {
        self.action.is_change() && self.after.is_empty() && !self.file.is_symlink()
    }

    /// Does it. A file that is not what it was when the plan was made is left alone.
    pub fn perform(&self, machine: &Machine) -> Result<(), ConnectError> {
        if !self.action.is_change() {
            return Ok(());
        }
        let changed = |text: Option<&str>| match text == self.before.as_deref() {
            true => Ok(Some(self.after.clone())),
            false => Err(FileError::Changing { path: self.file.clone() }),
        };
        file::change_within(&self.file, machine.links(self.scope), FILE_MAX, changed)?;
        if self.removes_file() {
            self.remove_empty_folders(machine);
        }
        Ok(())
    }

    /// Removes the folders that held nothing but the file, up to the home directory or the project.
    fn remove_empty_folders(&self, machine: &Machine) {
        let base = match self.scope {
            For::User => machine.world.home.as_deref(),
            For::Project => Some(machine.world.project.as_path()),
        };
        let is_inside = |folder: &&Path| base.is_some_and(|base| *folder != base && folder.starts_with(base));
        for folder in self.file.ancestors().skip(1).take_while(is_inside) {
            // The call refuses a folder that is not empty.
            if fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}
