//! The host environment of a registry: project, home directory and `PATH`. The library does not read
//! environment variables by itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment a registry works in. Programs take it [from the process](HostEnv::from_process); tests build
/// their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEnv {
    /// The project directory, absolute.
    pub project: PathBuf,
    /// The home directory, which replaces `~`; `None` if there is none.
    pub home: Option<PathBuf>,
    /// The directories in which commands are looked up, as in `PATH`.
    pub path: OsString,
}

impl HostEnv {
    /// Returns the environment of this process: its current directory, `HOME` and `PATH`.
    pub fn from_process() -> std::io::Result<Self> {
        Ok(Self {
            project: std::env::current_dir()?,
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            path: std::env::var_os("PATH").unwrap_or_default(),
        })
    }

    /// Returns the directory with the user's state: trust, usage, logs.
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".prowess/state"))
    }

    /// Returns the nearest directory, from the project upwards, that contains `.git`; `None` if there is none, or
    /// if it or its `.git` has another owner than the project. Otherwise a user who can write to a directory above
    /// the project could create a `.git` there and widen the reach of trust.
    pub fn git_root(&self) -> Option<&Path> {
        let owner = |path: &Path| Some(prowess_fs::owner_uid(&path.symlink_metadata().ok()?));
        let root = self.project.ancestors().find(|dir| dir.join(".git").exists())?;
        let project = prowess_fs::owner_uid(&self.project.metadata().ok()?);
        let root_owner = prowess_fs::owner_uid(&root.metadata().ok()?);
        (root_owner == project && owner(&root.join(".git"))? == project).then_some(root)
    }
}
