//! Whose home, which system, which variables: what decides where a client's files are.

use std::path::{Path, PathBuf};

use prowess::Surroundings;

use super::clients::{Client, Location};
use super::error::ConnectError;
use crate::place::For;
use prowess_config::edit::file::Links;

/// A system that keeps applications' files in a place of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    /// Linux and its relatives.
    Linux,
    /// macOS.
    Mac,
}

impl Os {
    /// The one this was compiled for.
    pub fn here() -> Self {
        if cfg!(target_os = "macos") { Self::Mac } else { Self::Linux }
    }
}

/// Where clients are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Home, project and `PATH`.
    pub world: Surroundings,
    /// The system.
    pub os: Os,
    /// The variables of [`Machine::VARIABLES`] that are set. Whoever chose another home leaves them out: they speak of
    /// the real one.
    pub variables: Vec<(String, PathBuf)>,
}

/// What a path of the user's is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The home.
    Home,
    /// `XDG_CONFIG_HOME`, else `~/.config`.
    Config,
    /// Where applications of the desktop keep things: as `Config`, but on macOS `~/Library/Application Support`.
    Support,
    /// A variable of the client's own, else this folder of the home.
    Own(&'static str, &'static str),
}

impl Machine {
    /// The variables that move a client's files.
    pub const VARIABLES: [&'static str; 4] =
        ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"];

    fn variable(&self, name: &str) -> Option<&Path> {
        let set = self.variables.iter().find(|(known, _)| known == name).map(|(_, path)| path.as_path());
        // A relative one means something else wherever the client is started.
        set.filter(|path| path.is_absolute())
    }

    /// A path of the user's; `None` without a home.
    pub(super) fn locate(&self, location: &Location) -> Option<PathBuf> {
        let home = self.world.home.as_deref();
        let config =
            || self.variable("XDG_CONFIG_HOME").map(Path::to_owned).or_else(|| Some(home?.join(".config")));
        let base = match location.base {
            Base::Home => home?.to_owned(),
            Base::Config => config()?,
            Base::Support if self.os == Os::Mac => home?.join("Library/Application Support"),
            Base::Support => config()?,
            Base::Own(name, folder) => match self.variable(name) {
                Some(path) => path.to_owned(),
                None => home?.join(folder),
            },
        };
        Some(if location.path.is_empty() { base } else { base.join(location.path) })
    }

    /// The files that a client reads for a scope, in the order in which they are made.
    pub fn files(&self, client: &Client, scope: For) -> Result<Vec<PathBuf>, ConnectError> {
        let files: Vec<PathBuf> = match scope {
            For::User if self.world.home.is_none() => return Err(ConnectError::NoHome),
            For::User => client.user.iter().filter_map(|location| self.locate(location)).collect(),
            For::Project => client.project.iter().map(|path| self.world.project.join(path)).collect(),
        };
        match files.is_empty() {
            true => Err(ConnectError::NoScope { client: client.title, id: client.id }),
            false => Ok(files),
        }
    }

    /// Whether links are followed: the user's own files may be kept elsewhere, a project's may not lead out of it.
    pub(super) fn links(&self, scope: For) -> Links<'_> {
        match scope {
            For::User => Links::Followed,
            For::Project => Links::Refused(&self.world.project),
        }
    }
}
