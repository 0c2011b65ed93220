//! Which clients are here, and which are connected.

use std::path::{Path, PathBuf};

use prowess_format::Value;

use super::clients::Client;
use super::error::ConnectError;
use super::machine::Machine;
use super::plan::look;
use super::server::Name;
use super::shape::is_ours;
use crate::place::For;

/// By what a client was noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// A file or folder of its own.
    Kept(PathBuf),
    /// Its program on `PATH`.
    Program(PathBuf),
}

/// An entry for Prowess, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The file that has it, or would have it.
    pub file: PathBuf,
    /// What it says.
    pub entry: Option<Value>,
    /// Whether it leads to Prowess; another server may have the name.
    pub is_ours: bool,
}

/// By what a client is noticed on this machine; `None` where it is not.
pub fn trace(machine: &Machine, client: &Client) -> Option<Trace> {
    let kept = client.traces.iter().filter_map(|location| machine.locate(location));
    let programs = || client.programs.iter().find_map(|name| on_path(machine, name));
    kept.into_iter().find(|path| path.exists()).map(Trace::Kept).or_else(|| programs().map(Trace::Program))
}

/// Whether a client has an entry of that name.
pub fn connection(
    machine: &Machine,
    client: &Client,
    scope: For,
    name: &Name,
) -> Result<Connection, ConnectError> {
    let (file, _, found) = look(machine, client, scope, name)?;
    let entry = found.map(|found| found.value);
    let is_ours = entry.as_ref().is_some_and(is_ours);
    Ok(Connection { file, entry, is_ours })
}

/// A program of this name on `PATH`.
fn on_path(machine: &Machine, name: &str) -> Option<PathBuf> {
    let runs =
        |path: &Path| path.metadata().is_ok_and(|there| there.is_file() && prowess_fs::is_executable(&there));
    let folders = std::env::split_paths(&machine.world.path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| runs(path))
}

impl Machine {
    /// How a client should call this program, which lies at `executable`: by name where that finds it on `PATH`, else
    /// by its path there, which outlives an upgrade, else by the path itself.
    pub fn command(&self, executable: &Path, by_name: bool) -> PathBuf {
        let name = "prowess";
        let found = on_path(self, name).filter(|path| same_file(path, executable));
        match found {
            Some(_) if by_name => PathBuf::from(name),
            Some(path) => path,
            None => executable.to_owned(),
        }
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}
