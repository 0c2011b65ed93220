//! Where a value came from.

use std::fmt;
use std::path::PathBuf;

use prowess::policy::Preset;

/// Which of the configuration files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The user's.
    User,
    /// The project's.
    Project,
    /// The one given by `--config`.
    Given,
}

impl Layer {
    /// The word that stands in JSON and before a path.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Given => "given",
        }
    }
}

/// Where a value came from.
///
/// ```
/// use prowess_config::{Layer, Origin};
///
/// let origin = Origin::File { layer: Layer::User, path: "/home/ada/.prowess/config.toml".into(), line: 3 };
/// assert_eq!(origin.to_string(), "user file /home/ada/.prowess/config.toml:3");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The preset has it so.
    Preset(Preset),
    /// A file says so.
    File {
        /// Which of the files.
        layer: Layer,
        /// Its path.
        path: PathBuf,
        /// The line, counted from 1.
        line: u32,
    },
    /// This environment variable says so.
    Environment(String),
    /// This flag says so.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset(preset) => write!(f, "preset {preset}"),
            Self::File { layer, path, line } => {
                write!(f, "{} file {}:{line}", layer.as_str(), path.display())
            }
            Self::Environment(variable) => write!(f, "variable {variable}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}
