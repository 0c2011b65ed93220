//! Errors of creating, editing and deleting the user's skills.

use prowess::ErrorCode;
use prowess_format::{Diagnostic, hidden};

use crate::error::PackageError;
use crate::install_target::NotEditableReason;
use prowess_archive::InnerPathError;

/// An error in one field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field: `id`, `name`, `description` or `body`.
    pub field: &'static str,
    /// The message.
    pub message: String,
}

/// The reason why an operation failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserSkillError {
    /// The skill is not editable.
    #[error("cannot change {}: {reason}", hidden::escape_for_display(name))]
    NotEditable {
        /// The skill.
        name: String,
        /// The reason.
        reason: NotEditableReason,
    },
    /// Some fields are invalid.
    #[error("{}", describe_fields(.0))]
    InvalidFields(Vec<FieldError>),
    /// The skill already exists.
    #[error("the skill {} already exists", hidden::escape_for_display(.0))]
    Exists(String),
    /// The path is not a valid path of a file in a skill.
    #[error("invalid path {}: {reason}", hidden::escape_for_display(path))]
    InvalidPath {
        /// The path.
        path: String,
        /// The reason.
        reason: InnerPathError,
    },
    /// The file was changed by another program.
    #[error("{path} was changed after it was read")]
    ConcurrentChange {
        /// The file.
        path: String,
        /// The digest of the current contents; `None` if the file does not exist.
        current_digest: Option<String>,
    },
    /// The manifest would be invalid.
    #[error("{path} would be invalid: {}", crate::error::first_error(diagnostics))]
    InvalidManifest {
        /// The file.
        path: String,
        /// The diagnostics.
        diagnostics: Vec<Diagnostic>,
    },
    /// An error of one file.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// The error code.
        code: ErrorCode,
        /// The message.
        message: String,
    },
    /// Another error.
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl UserSkillError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotEditable { .. } => ErrorCode::AccessDenied,
            Self::InvalidFields(_) | Self::InvalidPath { .. } | Self::InvalidManifest { .. } => {
                ErrorCode::InvalidParam
            }
            Self::Exists(_) | Self::ConcurrentChange { .. } => ErrorCode::Conflict,
            Self::File { code, .. } => *code,
            Self::Package(error) => error.code(),
        }
    }
}

fn describe_fields(fields: &[FieldError]) -> String {
    let fields = fields.iter().map(|field| format!("{}: {}", field.field, field.message));
    fields.collect::<Vec<_>>().join("; ")
}
