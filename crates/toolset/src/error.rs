//! Errors of toolsets, with their location in the source.

use std::fmt;
use std::time::Duration;

use prowess::ErrorCode;
use prowess::format::{Location, Span};
use prowess::resources::ReadResourceError;

use super::program_fault::ProgramFault;
use prowess_sandbox::RunError;

/// A location in a source file as its author wrote it, including TypeScript. Line and column start at 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// The path in the skill.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl SourceLocation {
    /// Returns the location in the bytes of the file, for a diagnostic.
    pub fn locate(&self, source: &[u8]) -> Location {
        let text = String::from_utf8_lossy(source);
        let line_start: usize =
            text.split_inclusive('\n').take(self.line.saturating_sub(1) as usize).map(str::len).sum();
        let line_and_rest = text.get(line_start..).unwrap_or_default().chars();
        let in_line: usize =
            line_and_rest.take(self.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        let start = u32::try_from(line_start + in_line).unwrap_or_default();
        Location { line: self.line, column: self.column, span: Span { start, end: start } }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a toolset is not available, or a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsetError {
    /// The skill may not be used, or a file cannot be read.
    #[error(transparent)]
    Access(#[from] ReadResourceError),
    /// Required commands are missing.
    #[error("the skill requires commands that are missing: {0}")]
    Unavailable(String),
    /// The source cannot be loaded.
    #[error("{}{message}", location_prefix(.location.as_ref()))]
    Load {
        /// The error, in one line.
        message: String,
        /// The location.
        location: Option<SourceLocation>,
    },
    /// The skill has no tool with this name.
    #[error("the skill has no tool named {0}")]
    UnknownTool(String),
    /// The arguments are invalid.
    #[error("{0}")]
    Rejected(String),
    /// The tool threw an error.
    #[error("Error: {message}")]
    Thrown {
        /// The message of the error, in one line.
        message: String,
        /// Where it was thrown, if known.
        location: Option<SourceLocation>,
    },
    /// The result of the tool is invalid.
    #[error("{0}")]
    InvalidResult(String),
    /// Loading or the call took too long.
    #[error("{operation} took longer than {} s and was stopped", .limit.as_secs_f64())]
    Time {
        /// The operation that took too long.
        operation: &'static str,
        /// The limit.
        limit: Duration,
    },
    /// Loading or the call used too much memory.
    #[error("{operation} used more than {} MiB of memory and was stopped", .limit / 1024 / 1024)]
    Memory {
        /// The operation that used too much memory.
        operation: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// Loading or the call recursed too deeply.
    #[error("{operation} recursed too deeply and was stopped{}", location_suffix(.location.as_ref()))]
    Stack {
        /// The operation that recursed too deeply.
        operation: &'static str,
        /// The location, if known.
        location: Option<SourceLocation>,
    },
    /// A promise is never settled.
    #[error("{0} waits for a promise that is never settled: timers and network are not available")]
    Stuck(&'static str),
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// An earlier call of this skill cannot be stopped and is still running.
    #[error("an earlier call of this skill is still running; wait until it ends")]
    Busy,
    /// A program may not or cannot run.
    #[error("cannot run {file}: {message}")]
    CannotRun {
        /// The program.
        file: String,
        /// The stable error code.
        code: ErrorCode,
        /// The reason.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A program misbehaved.
    #[error("{file} {fault}")]
    Program {
        /// The program.
        file: String,
        /// What it did.
        fault: ProgramFault,
    },
    /// Two toolsets of a skill have a tool with the same name.
    #[error("two toolsets of the skill have a tool named {0}; the one of the module is used")]
    DuplicateTool(String),
    /// The maximum number of programs is busy.
    #[error("{0} programs of skills are already busy; try again later")]
    TooManyPrograms(usize),
    /// The engine failed.
    #[error("the JavaScript engine failed: {0}")]
    Engine(String),
}

impl ToolsetError {
    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Access(error) => error.code(),
            Self::CannotRun { code, .. } => *code,
            Self::Program { fault, .. } => fault.code(),
            Self::Unavailable(_) | Self::Busy | Self::TooManyPrograms(_) => ErrorCode::Unavailable,
            Self::UnknownTool(_) => ErrorCode::NotFound,
            Self::Rejected(_) => ErrorCode::InvalidParam,
            Self::Time { .. } => ErrorCode::Timeout,
            Self::Load { .. }
            | Self::DuplicateTool(_)
            | Self::Thrown { .. }
            | Self::InvalidResult(_)
            | Self::Memory { .. }
            | Self::Stack { .. }
            | Self::Stuck(_)
            | Self::Cancelled => ErrorCode::ExecutionError,
            Self::Engine(_) => ErrorCode::InternalError,
        }
    }

    /// Returns the location in the source, if known.
    pub fn location(&self) -> Option<&SourceLocation> {
        match self {
            Self::Load { location, .. } | Self::Thrown { location, .. } | Self::Stack { location, .. } => {
                location.as_ref()
            }
            _ => None,
        }
    }

    /// Returns the message without the location.
    pub fn message(&self) -> String {
        match self {
            Self::Load { message, .. } => message.clone(),
            Self::Stack { operation, .. } => Self::Stack { operation, location: None }.to_string(),
            other => other.to_string(),
        }
    }

    /// Returns what to do about the error, other than fixing the toolset.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::CannotRun { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }

    /// Returns the program that the error is about.
    pub fn program(&self) -> Option<&str> {
        match self {
            Self::CannotRun { file, .. } | Self::Program { file, .. } => Some(file),
            _ => None,
        }
    }

    pub(super) fn cannot_run(file: &str, error: &RunError) -> Self {
        let file = prowess::format::hidden::escape_for_display(file).into_owned();
        Self::CannotRun { file, code: error.code(), message: error.to_string(), hint: error.hint() }
    }

    /// Returns `true` if the engine cannot be used after this error.
    pub(super) fn ends_engine(&self) -> bool {
        matches!(
            self,
            Self::Time { .. } | Self::Memory { .. } | Self::Stack { .. } | Self::Cancelled | Self::Engine(_)
        )
    }

    /// Creates a load error without a location.
    pub(super) fn load(message: impl Into<String>) -> Self {
        Self::Load { message: message.into(), location: None }
    }
}

fn location_prefix(location: Option<&SourceLocation>) -> String {
    location.map(|location| format!("{location}: ")).unwrap_or_default()
}

fn location_suffix(location: Option<&SourceLocation>) -> String {
    location.map(|location| format!(", at {location}")).unwrap_or_default()
}
