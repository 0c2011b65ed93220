//! The environment that determines where a client's files are: home directory, system, variables.

use std::path::PathBuf;

use prowess::HostEnv;

use super::clients::Client;
use super::error::ConnectError;
use crate::client_path::{ClientPath, TargetOs};
use crate::install_target::InstallScope;
use prowess_config::edit::file::SymlinkPolicy;

/// The environment in which clients are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEnv {
    /// Home directory, project and `PATH`.
    pub host: HostEnv,
    /// The operating system.
    pub os: TargetOs,
    /// The variables of [`ClientEnv::VARIABLES`] that are set. Callers that override the home directory leave them
    /// out: they refer to the real one.
    pub variables: Vec<(String, PathBuf)>,
}

impl ClientEnv {
    /// The variables that change where clients keep their files.
    pub const VARIABLES: [&'static str; 10] = crate::client_path::VARIABLES;

    /// Resolves a user path; `None` without a home directory.
    pub(super) fn resolve(&self, location: &ClientPath) -> Option<PathBuf> {
        location.resolve(self.host.home.as_deref(), self.os, &self.variables)
    }

    /// Returns the files that a client reads in a scope. The first one is created if none exists.
    pub fn files(&self, client: &Client, scope: InstallScope) -> Result<Vec<PathBuf>, ConnectError> {
        let files: Vec<PathBuf> = match scope {
            InstallScope::User if self.host.home.is_none() => return Err(ConnectError::NoHome),
            InstallScope::User => client.user.iter().filter_map(|location| self.resolve(location)).collect(),
            InstallScope::Project => client.project.iter().map(|path| self.host.project.join(path)).collect(),
        };
        match files.is_empty() {
            true => Err(ConnectError::NoProjectConfig { client: client.title, id: client.id }),
            false => Ok(files),
        }
    }

    /// Returns whether symlinks are followed. The user's files may be symlinks; a project's files must be inside it.
    pub(super) fn symlink_policy(&self, scope: InstallScope) -> SymlinkPolicy<'_> {
        match scope {
            InstallScope::User => SymlinkPolicy::Followed,
            InstallScope::Project => SymlinkPolicy::Rejected(&self.host.project),
        }
    }
}
