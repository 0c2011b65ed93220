//! Which clients are installed, and which are connected.

use std::path::{Path, PathBuf};

use prowess_format::Value;
use prowess_fs::programs_on_path;

use super::client_env::ClientEnv;
use super::clients::Client;
use super::entry_format::is_ours;
use super::error::ConnectError;
use super::plan::find_entry;
use super::server::ServerName;
use crate::client_path::ClientPath;
use crate::install_target::InstallScope;

/// Evidence that a client is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientTrace {
    /// A file or directory of the client.
    ConfigPath(PathBuf),
    /// Its program on `PATH`.
    Program(PathBuf),
}

/// The state of a client's entry for Prowess.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionStatus {
    /// The file that contains the entry, or would contain it.
    pub file: PathBuf,
    /// The entry.
    pub entry: Option<Value>,
    /// Whether the entry points to Prowess; another server may have the name.
    pub is_ours: bool,
}

/// Returns evidence that a client is installed; `None` if there is none.
pub fn find_trace(env: &ClientEnv, client: &Client) -> Option<ClientTrace> {
    trace_of(env, client.traces, client.programs)
}

/// Returns evidence that one of these files or programs exists.
pub(super) fn trace_of(env: &ClientEnv, traces: &[ClientPath], programs: &[&str]) -> Option<ClientTrace> {
    let config_paths = traces.iter().filter_map(|location| env.resolve(location));
    let programs = || programs.iter().find_map(|name| programs_on_path(name, &env.host.path).next());
    config_paths
        .into_iter()
        .find(|path| path.exists())
        .map(ClientTrace::ConfigPath)
        .or_else(|| programs().map(ClientTrace::Program))
}

/// Returns whether a client has an entry with this name.
pub fn connection_status(
    env: &ClientEnv,
    client: &Client,
    scope: InstallScope,
    name: &ServerName,
) -> Result<ConnectionStatus, ConnectError> {
    let (file, _, existing) = find_entry(env, client, scope, name)?;
    let entry = existing.map(|existing| existing.value);
    let is_ours = entry.as_ref().is_some_and(|entry| is_ours(name, entry));
    Ok(ConnectionStatus { file, entry, is_ours })
}

impl ClientEnv {
    /// Returns the command with which a client should start this program, installed at `executable`: its name if
    /// `PATH` finds it and `by_name`, else its path on `PATH`, which survives upgrades, else `executable`.
    pub fn command(&self, executable: &Path, by_name: bool) -> PathBuf {
        let name = "prowess";
        let on_path =
            programs_on_path(name, &self.host.path).next().filter(|path| same_file(path, executable));
        match on_path {
            Some(_) if by_name => PathBuf::from(name),
            Some(path) => path,
            None => executable.to_owned(),
        }
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    canonical(a).is_some_and(|a| canonical(b) == Some(a))
}
