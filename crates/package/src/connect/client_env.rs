//! The environment that determines where a client's files are: home directory, system, variables.

use std::path::{Path, PathBuf};

use prowess::HostEnv;

use super::clients::{Client, ClientPath};
use super::error::ConnectError;
use crate::install_target::InstallScope;
use prowess_config::edit::file::SymlinkPolicy;

/// An operating system with its own directory for application data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetOs {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    Mac,
}

impl TargetOs {
    /// Returns the system of this build.
    pub fn current() -> Self {
        if cfg!(target_os = "macos") { Self::Mac } else { Self::Linux }
    }
}

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

/// The base directory of a user path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseDir {
    /// The home directory.
    Home,
    /// `XDG_CONFIG_HOME`, or `~/.config`.
    Config,
    /// The directory for application data: `~/Library/Application Support` on macOS, else the same as `Config`.
    AppData,
    /// A variable that only the client uses, or this directory in the home directory.
    Variable(&'static str, &'static str),
}

impl ClientEnv {
    /// The variables that change where clients keep their files.
    pub const VARIABLES: [&'static str; 5] =
        ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME"];

    fn variable(&self, name: &str) -> Option<&Path> {
        let value =
            self.variables.iter().find(|(variable, _)| variable == name).map(|(_, path)| path.as_path());
        // A relative path depends on the directory in which the client is started.
        value.filter(|path| path.is_absolute())
    }

    /// Resolves a user path; `None` without a home directory.
    pub(super) fn resolve(&self, location: &ClientPath) -> Option<PathBuf> {
        let home = self.host.home.as_deref();
        let config =
            || self.variable("XDG_CONFIG_HOME").map(Path::to_owned).or_else(|| Some(home?.join(".config")));
        let base = match location.base {
            BaseDir::Home => home?.to_owned(),
            BaseDir::Config => config()?,
            BaseDir::AppData if self.os == TargetOs::Mac => home?.join("Library/Application Support"),
            BaseDir::AppData => config()?,
            BaseDir::Variable(name, dir) => match self.variable(name) {
                Some(path) => path.to_owned(),
                None => home?.join(dir),
            },
        };
        Some(if location.path.is_empty() { base } else { base.join(location.path) })
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
