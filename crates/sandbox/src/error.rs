//! Why a script did not run. A script that ran, however it ended, is no error.

use prowess::ErrorCode;
use prowess::resource::AccessError;

use super::sandbox::SandboxError;

/// Why a script did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The skill or the file is not handed out.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The user has not allowed it.
    #[error("the scripts of {skill} are not allowed to run")]
    NotAllowed {
        /// The skill.
        skill: String,
        /// What to write to allow it.
        entry: String,
        /// Whether nobody may run any.
        never: bool,
    },
    /// The skill itself does not list a tool that runs scripts.
    #[error("the skill {skill} does not allow itself to run {script}: its allowed-tools are {}", allowed.join(" "))]
    AllowedTools {
        /// The skill.
        skill: String,
        /// The script.
        script: String,
        /// What it lists.
        allowed: Vec<String>,
    },
    /// Arguments that are too many, too long or not passable.
    #[error("{0}")]
    Arguments(String),
    /// Nothing says what runs the file.
    #[error("what runs {script} is not known: it has no #! line, and its ending says nothing")]
    NoInterpreter {
        /// The script.
        script: String,
    },
    /// What runs it is not there.
    #[error("{script} needs {name}, which {why}")]
    Missing {
        /// The script.
        script: String,
        /// The interpreter.
        name: String,
        /// What is wrong with it.
        why: &'static str,
        /// What to install.
        install: String,
    },
    /// Nothing can be enforced here.
    #[error("no sandbox can be enforced here, so nothing runs ({})", told(.0))]
    Sandbox(Vec<SandboxError>),
    /// It could not be started inside.
    #[error("{0}")]
    NotStarted(String),
    /// What was done cannot be recorded, so it is not done.
    #[error("the run cannot be recorded in {path}: {why}")]
    Log {
        /// The file.
        path: String,
        /// Why.
        why: std::io::Error,
    },
    /// The scratch folder, pipes and the like.
    #[error("{what}: {why}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        why: std::io::Error,
    },
}

fn told(errors: &[SandboxError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl RunError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Access(error) => error.code(),
            Self::NotAllowed { .. } | Self::AllowedTools { .. } => ErrorCode::AccessDenied,
            Self::Arguments(_) | Self::NoInterpreter { .. } => ErrorCode::InvalidParam,
            Self::Missing { .. } => ErrorCode::Unavailable,
            Self::Sandbox(_) => ErrorCode::SandboxUnavailable,
            Self::Log { .. } => ErrorCode::PermissionDenied,
            Self::NotStarted(_) | Self::Io { .. } => ErrorCode::ExecutionError,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotAllowed { never: true, .. } => {
                Some("run.scripts is \"never\"; the user can set it to \"ask\" or \"allowed\"".to_owned())
            }
            Self::NotAllowed { entry, .. } => Some(format!(
                "the user can allow them: PROWESS_ALLOW_SCRIPTS=1 for one call, or in ~/.prowess/config.toml \
                 run.allowed-skills = [\"{entry}\"]"
            )),
            Self::AllowedTools { script, .. } => Some(format!(
                "its author can add Bash({script}:*) or skills.run to allowed-tools in SKILL.md; run.allowed-tools = \
                 \"advisory\" in ~/.prowess/config.toml ignores the list"
            )),
            Self::NoInterpreter { .. } => {
                Some("begin it with a line such as #!/usr/bin/env python3".to_owned())
            }
            Self::Missing { install, .. } => Some(install.clone()),
            Self::Sandbox(_) => {
                Some("prowess doctor tells what this machine enforces and what is missing".to_owned())
            }
            Self::Arguments(_)
            | Self::Access(_)
            | Self::NotStarted(_)
            | Self::Log { .. }
            | Self::Io { .. } => None,
        }
    }
}
