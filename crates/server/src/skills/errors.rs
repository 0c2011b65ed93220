//! Error responses for failed changes.

use axum::http::StatusCode;
use prowess::ErrorCode;
use prowess::format::Diagnostic;
use prowess::format::hidden::escape_for_display;
use prowess_package::PackageError;
use prowess_package::user_skills::UserSkillError;

use crate::problem::{FieldProblem, Problem};

/// Returns the error response for a failed import. Errors in the upload are errors of the client.
pub(super) fn upload_problem(error: PackageError) -> Problem {
    let is_client_error = matches!(
        error,
        PackageError::InvalidPath { .. }
            | PackageError::NotAFile { .. }
            | PackageError::InvalidName { .. }
            | PackageError::NoSkills(_)
            | PackageError::InvalidManifest { .. }
            | PackageError::CaseCollision(..)
            | PackageError::DuplicatePath(_)
            | PackageError::FileDirConflict(_)
            | PackageError::FetchFailed { .. }
    );
    let code = match (&error, error.code()) {
        (PackageError::InvalidManifest { .. } | PackageError::NoSkills(_), _) => ErrorCode::InvalidParam,
        (_, code) => code,
    };
    match &error {
        PackageError::AuditRejected { .. } => {
            let detail = format!("{error}; set accept_risk to import it anyway");
            return Problem::new(ErrorCode::Untrusted, detail);
        }
        PackageError::AuditUnconfirmed { .. } => {
            let detail = format!("{error}; set accept_findings to import it anyway");
            return Problem::with_status(StatusCode::CONFLICT, ErrorCode::Untrusted, detail);
        }
        PackageError::AlreadyExists(dir) => {
            let id = dir.file_name().unwrap_or_default().to_string_lossy();
            let detail =
                format!("skill {} already exists; set overwrite to replace it", escape_for_display(&id));
            return Problem::new(ErrorCode::Conflict, detail);
        }
        _ => {}
    }
    match is_client_error && code != ErrorCode::TooLarge {
        true => {
            let mut problem = Problem::with_status(StatusCode::BAD_REQUEST, code, error.to_string());
            if let PackageError::InvalidName { reason, .. } = error {
                problem.errors.push(FieldProblem { field: "id".to_owned(), message: reason });
            }
            problem
        }
        false => Problem::from(UserSkillError::from(error)),
    }
}

/// Converts errors of user skills.
impl From<UserSkillError> for Problem {
    fn from(error: UserSkillError) -> Self {
        let detail = error.to_string();
        let mut problem = match &error {
            UserSkillError::Package(PackageError::InvalidManifest { .. }) => Self::invalid(detail),
            UserSkillError::Package(PackageError::InvalidArgument { .. }) => {
                Self::new(ErrorCode::AccessDenied, detail)
            }
            error => Self::new(error.code(), detail),
        };
        let field = |field: &str, message: &str| FieldProblem {
            field: field.to_owned(),
            message: message.to_owned(),
        };
        problem.errors = match &error {
            UserSkillError::InvalidFields(fields) => {
                fields.iter().map(|error| field(error.field, &error.message)).collect()
            }
            UserSkillError::InvalidManifest { diagnostics, .. } => {
                let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
                let field_name = |diagnostic: &Diagnostic| match diagnostic.location {
                    Some(location) => format!("content:{}", location.line),
                    None => "content".to_owned(),
                };
                errors.map(|diagnostic| field(&field_name(diagnostic), &diagnostic.message)).collect()
            }
            _ => Vec::new(),
        };
        problem
    }
}
