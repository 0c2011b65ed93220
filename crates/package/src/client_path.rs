//! Files and directories of other programs in the user's home directory, and the variables that move them.

use std::path::{Path, PathBuf};

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

/// The variables that change where other programs keep their files.
pub const VARIABLES: [&str; 10] = [
    "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "AUTOHAND_HOME",
    "GROK_HOME",
    "HERMES_HOME",
    "SARVAM_HOME",
    "VIBE_HOME",
];

/// The base directory of a user path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BaseDir {
    /// The home directory.
    Home,
    /// `XDG_CONFIG_HOME`, or `~/.config`.
    Config,
    /// The directory for application data: `~/Library/Application Support` on macOS, else the same as `Config`.
    AppData,
    /// A variable that only the program uses, or this directory in the home directory.
    Variable(&'static str, &'static str),
}

/// A file or directory of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientPath {
    pub(crate) base: BaseDir,
    pub(crate) path: &'static str,
}

pub(crate) const fn path_in(base: BaseDir, path: &'static str) -> ClientPath {
    ClientPath { base, path }
}

impl ClientPath {
    /// Returns the path; `None` without a home directory.
    pub(crate) fn resolve(
        &self,
        home: Option<&Path>,
        os: TargetOs,
        variables: &[(String, PathBuf)],
    ) -> Option<PathBuf> {
        let variable = |name: &str| {
            let value = variables.iter().find(|(variable, _)| variable == name).map(|(_, path)| path.clone());
            // A relative path depends on the directory in which the program is started.
            value.filter(|path| path.is_absolute())
        };
        let config = || variable("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")));
        let base = match self.base {
            BaseDir::Home => home?.to_owned(),
            BaseDir::Config => config()?,
            BaseDir::AppData if os == TargetOs::Mac => home?.join("Library/Application Support"),
            BaseDir::AppData => config()?,
            BaseDir::Variable(name, dir) => match variable(name) {
                Some(path) => path,
                None => home?.join(dir),
            },
        };
        Some(if self.path.is_empty() { base } else { base.join(self.path) })
    }
}
