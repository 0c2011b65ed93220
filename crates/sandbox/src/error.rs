//! Why a script did not run. A script that ran and failed is not an error.

use prowess::ErrorCode;
use prowess::resources::ReadResourceError;

use super::environments::EnvironmentError;
use super::interpreter::UnknownRunnerError;
use super::sandbox::SandboxError;
use super::workspace::ScriptFilesError;

/// Why a script did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The skill or the file is not available.
    #[error(transparent)]
    Access(#[from] ReadResourceError),
    /// The user has not allowed the script.
    #[error("scripts of {skill} are not allowed to run")]
    NotAllowed {
        /// The skill.
        skill: String,
        /// The configuration entry that allows it.
        entry: String,
        /// Whether the configuration disables all scripts.
        all_disabled: bool,
    },
    /// The user never wants scripts of the skill to run.
    #[error("scripts of {skill} never run, because you denied them")]
    Denied {
        /// The skill.
        skill: String,
    },
    /// The skill's `allowed-tools` do not include running the script.
    #[error("skill {skill} does not allow running {script}: its allowed-tools are {}", allowed.join(" "))]
    AllowedTools {
        /// The skill.
        skill: String,
        /// The script.
        script: String,
        /// The listed tools.
        allowed: Vec<String>,
    },
    /// The skill has changed since its instructions were read.
    #[error("{skill} has changed since its instructions were read")]
    Changed {
        /// The skill.
        skill: String,
    },
    /// There are too many arguments, or they are too long or invalid.
    #[error("{0}")]
    Arguments(String),
    /// The interpreter of the file is unknown.
    #[error(transparent)]
    NoInterpreter(#[from] UnknownRunnerError),
    /// The interpreter is not available.
    #[error("{script} needs {name}, which {reason}")]
    Missing {
        /// The script.
        script: String,
        /// The interpreter.
        name: String,
        /// The reason.
        reason: &'static str,
        /// How to install it.
        install: String,
    },
    /// No sandbox can be enforced.
    #[error("no sandbox can be enforced, so the script was not run ({})", join_errors(.0))]
    Sandbox(Vec<SandboxError>),
    /// The script could not be started in the sandbox.
    #[error("{0}")]
    NotStarted(String),
    /// The run cannot be recorded, so it is not started.
    #[error("cannot record the run in {path}: {error}")]
    Log {
        /// The file.
        path: String,
        /// The reason.
        error: std::io::Error,
    },
    /// The workspace or a granted path cannot be used.
    #[error(transparent)]
    Workspace(#[from] ScriptFilesError),
    /// The packages that the script needs are not available.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// An I/O error with the scratch directory, a pipe or similar.
    #[error("{context}: {error}")]
    Io {
        /// What failed.
        context: &'static str,
        /// The reason.
        error: std::io::Error,
    },
}

/// What to do if scripts of a skill are denied.
pub const DENIED_HINT: &str =
    "to be asked again, remove the skill from run.denied-skills in ~/.prowess/config.toml";

fn join_errors(errors: &[SandboxError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl RunError {
    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Access(error) => error.code(),
            Self::Workspace(error) => error.code(),
            Self::Environment(error) => error.code(),
            Self::NotAllowed { .. } | Self::Denied { .. } | Self::AllowedTools { .. } => {
                ErrorCode::AccessDenied
            }
            Self::Arguments(_) | Self::NoInterpreter(_) => ErrorCode::InvalidParam,
            Self::Changed { .. } => ErrorCode::Conflict,
            Self::Missing { .. } => ErrorCode::Unavailable,
            Self::Sandbox(_) => ErrorCode::SandboxUnavailable,
            Self::Log { .. } => ErrorCode::PermissionDenied,
            Self::NotStarted(_) | Self::Io { .. } => ErrorCode::ExecutionError,
        }
    }

    /// Returns what to do about the error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotAllowed { all_disabled: true, .. } => {
                Some("run.scripts is \"never\"; set it to \"ask\" or \"allowed\" to allow scripts".to_owned())
            }
            Self::NotAllowed { entry, .. } => Some(format!(
                "to allow them, set PROWESS_ALLOW_SCRIPTS=1 for one call, or add to ~/.prowess/config.toml: \
                 run.allowed-skills = [\"{entry}\"]"
            )),
            Self::Denied { .. } => Some(DENIED_HINT.to_owned()),
            Self::AllowedTools { script, .. } => Some(format!(
                "add Bash({script}:*) or skills.run to allowed-tools in SKILL.md, or set run.allowed-tools = \"advisory\" in \
                 ~/.prowess/config.toml to ignore the list"
            )),
            Self::NoInterpreter(error) => Some(error.hint().to_owned()),
            Self::Missing { install, .. } => Some(install.clone()),
            Self::Sandbox(_) => Some("run `prowess doctor` to see what this machine can enforce".to_owned()),
            Self::Workspace(error) => error.hint(),
            Self::Environment(error) => error.hint(),
            Self::Arguments(_)
            | Self::Changed { .. }
            | Self::Access(_)
            | Self::NotStarted(_)
            | Self::Log { .. }
            | Self::Io { .. } => None,
        }
    }
}
