//! What can go wrong with a toolset, and where in its sources.

use std::fmt;
use std::time::Duration;

use prowess::ErrorCode;
use prowess::resource::AccessError;

use super::fault::Fault;
use prowess_sandbox::RunError;

/// A place in a source as its author wrote it, TypeScript included. Line and column count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path inside the skill.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a toolset is not there, or a call of it came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsetError {
    /// The skill may not be used, or a file of it may not be read.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// Commands that the skill needs are missing.
    #[error("the skill needs commands that are missing: {0}")]
    Unavailable(String),
    /// The sources cannot be loaded.
    #[error("{}{message}", at(.place.as_ref()))]
    Load {
        /// What is wrong, in one line.
        message: String,
        /// Where.
        place: Option<Place>,
    },
    /// The skill has no tool of this name.
    #[error("the skill has no tool named {0}")]
    NoTool(String),
    /// The arguments are not what the tool takes.
    #[error("{0}")]
    Rejected(String),
    /// The tool threw.
    #[error("Error: {message}")]
    Thrown {
        /// The error's message, in one line.
        message: String,
        /// Where it was thrown, as far as is known.
        place: Option<Place>,
    },
    /// The tool answered with something that is no answer.
    #[error("{0}")]
    Answer(String),
    /// Loading or the call took too long.
    #[error("{what} took longer than {} s and was stopped", .limit.as_secs_f64())]
    Time {
        /// What did.
        what: &'static str,
        /// What it had.
        limit: Duration,
    },
    /// It needed more memory than there is for it.
    #[error("{what} needed more than {} MiB of memory and was stopped", .limit / 1024 / 1024)]
    Memory {
        /// What did.
        what: &'static str,
        /// What it had, in bytes.
        limit: usize,
    },
    /// It recursed too deeply.
    #[error("{what} recursed too deeply and was stopped{}", thrown_at(.place.as_ref()))]
    Stack {
        /// What did.
        what: &'static str,
        /// Where, as far as is known.
        place: Option<Place>,
    },
    /// It waits for something that nobody will do.
    #[error("{0} waits for a promise that nothing will settle: there are no timers and no network here")]
    Stuck(&'static str),
    /// Somebody cancelled it.
    #[error("the call was cancelled")]
    Cancelled,
    /// An earlier call of this skill cannot be stopped and still runs.
    #[error("an earlier call of this skill still runs; it has to end first")]
    Busy,
    /// A program may not or cannot run.
    #[error("{file} does not run: {message}")]
    NotRun {
        /// The program.
        file: String,
        /// The contract's code.
        code: ErrorCode,
        /// Why.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A program did something else than answering.
    #[error("{file} {fault}")]
    Program {
        /// The program.
        file: String,
        /// What it did.
        fault: Fault,
    },
    /// Two toolsets of a skill have a tool of the same name.
    #[error("two toolsets of the skill have a tool named {0}; the one of the module counts")]
    Twice(String),
    /// As many programs work as may.
    #[error("{0} programs of skills work already; one of them has to answer first")]
    Crowded(usize),
    /// The engine itself failed.
    #[error("the JavaScript engine failed: {0}")]
    Engine(String),
}

impl ToolsetError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Access(error) => error.code(),
            Self::NotRun { code, .. } => *code,
            Self::Program { fault, .. } => fault.code(),
            Self::Unavailable(_) | Self::Busy | Self::Crowded(_) => ErrorCode::Unavailable,
            Self::NoTool(_) => ErrorCode::NotFound,
            Self::Rejected(_) => ErrorCode::InvalidParam,
            Self::Time { .. } => ErrorCode::Timeout,
            Self::Load { .. }
            | Self::Twice(_)
            | Self::Thrown { .. }
            | Self::Answer(_)
            | Self::Memory { .. }
            | Self::Stack { .. }
            | Self::Stuck(_)
            | Self::Cancelled => ErrorCode::ExecutionError,
            Self::Engine(_) => ErrorCode::InternalError,
        }
    }

    /// Where in the sources it happened, as far as is known.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Load { place, .. } | Self::Thrown { place, .. } | Self::Stack { place, .. } => {
                place.as_ref()
            }
            _ => None,
        }
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> String {
        match self {
            Self::Load { message, .. } => message.clone(),
            Self::Stack { what, .. } => Self::Stack { what, place: None }.to_string(),
            other => other.to_string(),
        }
    }

    /// What to do about it, where that is not mending the toolset.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NotRun { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }

    /// The program that it is about.
    pub fn program(&self) -> Option<&str> {
        match self {
            Self::NotRun { file, .. } | Self::Program { file, .. } => Some(file),
            _ => None,
        }
    }

    pub(super) fn not_run(file: &str, error: &RunError) -> Self {
        let file = prowess::format::hidden::shown(file).into_owned();
        Self::NotRun { file, code: error.code(), message: error.to_string(), hint: error.hint() }
    }

    /// Whether the engine can no longer be used after this.
    pub(super) fn ends_engine(&self) -> bool {
        matches!(
            self,
            Self::Time { .. } | Self::Memory { .. } | Self::Stack { .. } | Self::Cancelled | Self::Engine(_)
        )
    }

    /// A load that failed, where nobody knows where.
    pub(super) fn load(message: impl Into<String>) -> Self {
        Self::Load { message: message.into(), place: None }
    }
}

fn at(place: Option<&Place>) -> String {
    place.map(|place| format!("{place}: ")).unwrap_or_default()
}

fn thrown_at(place: Option<&Place>) -> String {
    place.map(|place| format!(", at {place}")).unwrap_or_default()
}
