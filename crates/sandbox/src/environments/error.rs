//! Why an environment cannot be used or built.

use std::path::{Path, PathBuf};

use prowess::ErrorCode;

use super::dependencies::{DependencyError, escape};
use crate::sandbox::SandboxError;

/// Why an environment cannot be used or built. Output of tools and names of packages are escaped and bounded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The dependencies cannot be determined.
    #[error(transparent)]
    Dependencies(#[from] DependencyError),
    /// The environment has not been built.
    #[error("{} needs {}, which {} not installed", escape(script), list(packages), if packages.len() == 1 { "is" } else { "are" })]
    NotBuilt {
        /// The skill.
        skill: String,
        /// The script.
        script: String,
        /// The packages.
        packages: Vec<String>,
    },
    /// Only modules are missing that no known package provides.
    #[error("no known package provides {}", list(modules))]
    UnknownModules {
        /// The modules.
        modules: Vec<String>,
    },
    /// The interpreter does not have the required version.
    #[error("{} requires Python {required}, but {} is {version}", escape(file), interpreter.display())]
    PythonVersion {
        /// The file that requires it.
        file: String,
        /// The accepted versions.
        required: String,
        /// The interpreter.
        interpreter: PathBuf,
        /// Its version.
        version: String,
    },
    /// A program is missing.
    #[error("{name} {reason}")]
    MissingProgram {
        /// The program.
        name: String,
        /// The reason.
        reason: String,
        /// How to install it.
        install: String,
    },
    /// The index has no wheel of a package for this interpreter.
    #[error("the package index has no wheel of {} for {platform}", escape(package))]
    NoWheel {
        /// The package, as required.
        package: String,
        /// The interpreter and the system.
        platform: String,
    },
    /// The requirements contradict each other.
    #[error("the required packages conflict: {}", lines.join("; "))]
    Conflict {
        /// The relevant output of the resolver.
        lines: Vec<String>,
    },
    /// A downloaded file does not have the expected digest.
    #[error("a downloaded package does not have the recorded digest: {}", lines.join("; "))]
    HashMismatch {
        /// The relevant output of the installer.
        lines: Vec<String>,
    },
    /// The index cannot be reached.
    #[error("cannot reach the package index at {host}: {reason}")]
    Unreachable {
        /// The host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The index refers to a host that is not allowed.
    #[error("the package index refers to {host}, which is not allowed while an environment is built")]
    HostNotAllowed {
        /// The host and port.
        host: String,
    },
    /// There is no space left.
    #[error("no space left for the environment in {}", path.display())]
    DiskFull {
        /// The directory.
        path: PathBuf,
    },
    /// The environment exceeds a limit.
    #[error("the environment is too large: {reason}")]
    TooLarge {
        /// The limit.
        reason: String,
    },
    /// The build took too long.
    #[error("building the environment took longer than {} s", seconds)]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The build was cancelled or killed.
    #[error("the build was stopped before it was complete; nothing was installed")]
    Stopped,
    /// A package contains a file that is refused.
    #[error("a package contains {}, which {reason}", escape(path))]
    UnsafeFile {
        /// The path in the environment.
        path: String,
        /// The reason.
        reason: &'static str,
    },
    /// The files of an environment are not those that were installed.
    #[error("environment {id} changed after it was built")]
    Tampered {
        /// The environment.
        id: String,
        /// The skill that needs it.
        skill: String,
    },
    /// The record of an environment cannot be read.
    #[error("the record of environment {id} is damaged: {reason}")]
    Corrupt {
        /// The environment.
        id: String,
        /// The skill that needs it.
        skill: String,
        /// The reason.
        reason: String,
    },
    /// The program that resolves or installs packages failed.
    #[error("{tool} failed: {}", lines.join("; "))]
    Tool {
        /// The program.
        tool: &'static str,
        /// The last lines of its output.
        lines: Vec<String>,
    },
    /// There is no environment with this name.
    #[error("no environment {}", escape(name))]
    NotFound {
        /// The name or id.
        name: String,
    },
    /// No sandbox can be enforced, so nothing is built.
    #[error("no sandbox can be enforced, so no environment was built ({})", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Sandbox(Vec<SandboxError>),
    /// The directory of environments cannot be used.
    #[error("cannot use {} for environments: {reason}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// There is no home directory.
    #[error("no home directory for environments")]
    NoHome,
    /// An I/O error.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| escape(name)).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

impl EnvironmentError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path: path.to_owned() }
            }
            _ => Self::Io { path: path.to_owned(), source },
        }
    }

    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Dependencies(_) | Self::UnknownModules { .. } => ErrorCode::InvalidParam,
            Self::NotBuilt { .. }
            | Self::PythonVersion { .. }
            | Self::MissingProgram { .. }
            | Self::NoWheel { .. }
            | Self::Conflict { .. }
            | Self::Unreachable { .. }
            | Self::Tampered { .. }
            | Self::Corrupt { .. } => ErrorCode::Unavailable,
            Self::HashMismatch { .. } | Self::HostNotAllowed { .. } | Self::UnsafeFile { .. } => {
                ErrorCode::AccessDenied
            }
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::TimedOut { .. } => ErrorCode::Timeout,
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Sandbox(_) => ErrorCode::SandboxUnavailable,
            Self::Directory { .. } | Self::NoHome => ErrorCode::PermissionDenied,
            Self::DiskFull { .. } | Self::Stopped | Self::Tool { .. } | Self::Io { .. } => {
                ErrorCode::ExecutionError
            }
        }
    }

    /// Returns what to do about the error.
    pub fn hint(&self) -> Option<String> {
        let rebuild = |skill: &str| Some(format!("run `prowess env build {}`", escape(skill)));
        match self {
            Self::Dependencies(error) => error.hint(),
            Self::NotBuilt { skill, .. } | Self::Tampered { skill, .. } | Self::Corrupt { skill, .. } => rebuild(skill),
            Self::UnknownModules { .. } => Some(
                "list the packages in requirements.txt of the skill, or in a `# /// script` block of the script".to_owned(),
            ),
            Self::PythonVersion { .. } => Some("put a suitable python3 first in PATH".to_owned()),
            Self::MissingProgram { install, .. } => Some(install.clone()),
            Self::NoWheel { .. } => Some(
                "check the name and the version; packages that are only available as source are never built".to_owned(),
            ),
            Self::Conflict { .. } => Some("change the required versions in the skill".to_owned()),
            Self::HashMismatch { .. } => Some("check the package index; the files differ from the recorded ones".to_owned()),
            Self::Unreachable { .. } => Some("check the network, HTTPS_PROXY and environments.python-index".to_owned()),
            Self::HostNotAllowed { host } => Some(format!(
                "if you trust it, add to ~/.prowess/config.toml: environments.hosts = [\"{host}\"]"
            )),
            Self::DiskFull { .. } => Some("free some space, or run `prowess env prune`".to_owned()),
            Self::Sandbox(_) => Some("run `prowess doctor` to see what this machine can enforce".to_owned()),
            Self::NotFound { .. } => Some("run `prowess env list` to see all environments".to_owned()),
            Self::Directory { .. } => {
                Some("fix its permissions, or set environments.directory in ~/.prowess/config.toml".to_owned())
            }
            Self::NoHome => Some("set HOME or pass --home".to_owned()),
            Self::Stopped => Some("run the command again".to_owned()),
            Self::TooLarge { .. } | Self::TimedOut { .. } | Self::UnsafeFile { .. } | Self::Tool { .. } | Self::Io { .. } => {
                None
            }
        }
    }
}
