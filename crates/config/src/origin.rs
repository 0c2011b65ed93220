//! The origins of configuration values.

use std::fmt;
use std::path::PathBuf;

use prowess::policy::Preset;

prowess_format::named_enum! {
    /// A layer of configuration files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ConfigLayer {
        /// The user's file.
        User = "user",
        /// The project's file.
        Project = "project",
        /// The file passed with `--config`.
        Explicit = "given",
    }
}

/// Where a value comes from.
///
/// ```
/// use prowess_config::{ConfigLayer, SettingOrigin};
///
/// let origin = SettingOrigin::File { layer: ConfigLayer::User, path: "/home/ada/.prowess/config.toml".into(), line: 3 };
/// assert_eq!(origin.to_string(), "user file /home/ada/.prowess/config.toml:3");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The preset.
    Preset(Preset),
    /// A file.
    File {
        /// The layer of the file.
        layer: ConfigLayer,
        /// Its path.
        path: PathBuf,
        /// The line, counted from 1.
        line: u32,
    },
    /// This environment variable.
    Environment(String),
    /// This flag.
    Flag(String),
}

impl fmt::Display for SettingOrigin {
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
