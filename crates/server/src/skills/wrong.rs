//! What is wrong with a change, as an answer.

use axum::http::StatusCode;
use prowess::ErrorCode;
use prowess::format::Diagnostic;
use prowess::format::hidden::shown;
use prowess_package::PackageError;
use prowess_package::own::OwnError;

use crate::problem::{FieldError, Problem};

/// What is wrong with what was sent is the sender's; the rest is as everywhere.
pub(super) fn of_sent(error: PackageError) -> Problem {
    let sender = matches!(
        error,
        PackageError::Path { .. }
            | PackageError::NotAFile { .. }
            | PackageError::Name { .. }
            | PackageError::NoSkill(_)
            | PackageError::Invalid { .. }
            | PackageError::Collision(..)
            | PackageError::Acquire { .. }
    );
    let code = match (&error, error.code()) {
        (PackageError::Invalid { .. } | PackageError::NoSkill(_), _) => ErrorCode::InvalidParam,
        (_, code) => code,
    };
    match &error {
        PackageError::Refused { .. } => {
            let detail = format!("{error}; accept_risk takes it all the same");
            return Problem::new(ErrorCode::Untrusted, detail);
        }
        PackageError::Unconfirmed { .. } => {
            let detail = format!("{error}; accept_findings takes it all the same");
            return Problem::with_status(StatusCode::CONFLICT, ErrorCode::Untrusted, detail);
        }
        PackageError::Taken(folder) => {
            let id = folder.file_name().unwrap_or_default().to_string_lossy();
            let detail = format!("there is a skill {} already; overwrite replaces it", shown(&id));
            return Problem::new(ErrorCode::Conflict, detail);
        }
        _ => {}
    }
    match sender && code != ErrorCode::TooLarge {
        true => {
            let mut problem = Problem::with_status(StatusCode::BAD_REQUEST, code, error.to_string());
            if let PackageError::Name { why, .. } = error {
                problem.errors.push(FieldError { field: "id".to_owned(), message: why });
            }
            problem
        }
        false => Problem::from(OwnError::from(error)),
    }
}

/// Errors of the user's own skills, as answers.
impl From<OwnError> for Problem {
    fn from(error: OwnError) -> Self {
        let detail = error.to_string();
        let mut problem = match &error {
            OwnError::Package(PackageError::Invalid { .. }) => Self::invalid(detail),
            OwnError::Package(PackageError::Call { .. }) => Self::new(ErrorCode::AccessDenied, detail),
            error => Self::new(error.code(), detail),
        };
        let field =
            |field: &str, message: &str| FieldError { field: field.to_owned(), message: message.to_owned() };
        problem.errors = match &error {
            OwnError::Fields(fields) => fields.iter().map(|it| field(it.field, &it.message)).collect(),
            OwnError::Invalid { diagnostics, .. } => {
                let errors = diagnostics.iter().filter(|said| said.is_error());
                let at = |said: &Diagnostic| match said.at {
                    Some(at) => format!("content:{}", at.line),
                    None => "content".to_owned(),
                };
                errors.map(|said| field(&at(said), &said.message)).collect()
            }
            _ => Vec::new(),
        };
        problem
    }
}
