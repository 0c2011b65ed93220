//! Why a skill of the user's was not made, changed or deleted.

use prowess::ErrorCode;
use prowess_format::{Diagnostic, hidden};

use crate::error::PackageError;
use crate::place::NotOwn;
use prowess_archive::PathError;

/// What is wrong with one field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field: `id`, `name`, `description` or `body`.
    pub field: &'static str,
    /// What is wrong with it.
    pub message: String,
}

/// Why it failed. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnError {
    /// It is not the user's.
    #[error("{} cannot be changed: {why}", hidden::shown(name))]
    NotOwn {
        /// The skill.
        name: String,
        /// Why not.
        why: NotOwn,
    },
    /// What was filled in is wrong, field by field.
    #[error("{}", told(.0))]
    Fields(Vec<FieldError>),
    /// There is one already.
    #[error("there is a skill {} already", hidden::shown(.0))]
    Exists(String),
    /// A path that no file of a skill has.
    #[error("{} cannot be the path of a file: {why}", hidden::shown(path))]
    Path {
        /// The path.
        path: String,
        /// Why not.
        why: PathError,
    },
    /// Somebody else changed it.
    #[error("{path} was changed since it was read")]
    Changed {
        /// The file.
        path: String,
        /// The digest of what is there now; `None` where nothing is.
        now: Option<String>,
    },
    /// A manifest that would not load.
    #[error("{path} would not load: {}", crate::error::first_error(diagnostics))]
    Invalid {
        /// The file.
        path: String,
        /// What is wrong with it.
        diagnostics: Vec<Diagnostic>,
    },
    /// Something about one file.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// For programs.
        code: ErrorCode,
        /// For people.
        why: String,
    },
    /// Whatever else keeps skills from being changed.
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl OwnError {
    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotOwn { .. } => ErrorCode::AccessDenied,
            Self::Fields(_) | Self::Path { .. } | Self::Invalid { .. } => ErrorCode::InvalidParam,
            Self::Exists(_) | Self::Changed { .. } => ErrorCode::Conflict,
            Self::File { code, .. } => *code,
            Self::Package(error) => error.code(),
        }
    }
}

fn told(fields: &[FieldError]) -> String {
    let told = fields.iter().map(|field| format!("{}: {}", field.field, field.message));
    told.collect::<Vec<_>>().join("; ")
}
