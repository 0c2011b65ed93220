//! The world a registry looks at: project, home, `PATH`. The library reads no environment by itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a registry works. Tests make their own; faces take it [from the process](Surroundings::of_process).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The project, absolute.
    pub project: PathBuf,
    /// What `~` stands for; `None` where there is no home.
    pub home: Option<PathBuf>,
    /// The directories that commands are looked up in, as in `PATH`.
    pub path: OsString,
}

impl Surroundings {
    /// What the process was started with: its directory, `HOME` and `PATH`.
    pub fn of_process() -> std::io::Result<Self> {
        Ok(Self {
            project: std::env::current_dir()?,
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            path: std::env::var_os("PATH").unwrap_or_default(),
        })
    }

    /// The user's state of Prowess: trust, usage, logs.
    pub fn state(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".prowess/state"))
    }

    /// The folder that holds `.git`, from the project upwards. One that belongs to somebody else does not count: whoever
    /// may write to a folder above the project could put a `.git` there, and trust would reach that far.
    pub fn git_root(&self) -> Option<&Path> {
        let owner = |folder: &Path| folder.metadata().ok().map(|metadata| prowess_fs::owner(&metadata));
        let root = self.project.ancestors().find(|folder| folder.join(".git").exists())?;
        (owner(root) == owner(&self.project)).then_some(root)
    }
}
