//! What went wrong, as `application/problem+json`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prowess::ErrorCode;
use prowess_chat::store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::chats::NotBegun;

/// The media type.
pub(crate) const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// What went wrong (RFC 9457), with a code that programs tell failures apart by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: the code says what kind it is.
    #[schema(example = "about:blank")]
    r#type: &'static str,
    /// The status in words.
    title: &'static str,
    /// The status.
    status: u16,
    /// One of the contract's codes.
    #[schema(value_type = String, example = "NOT_FOUND")]
    pub(crate) code: ErrorCode,
    /// What happened, for people.
    pub(crate) detail: String,
    /// What is wrong with single fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<FieldError>,
}

/// What is wrong with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// The field.
    pub(crate) field: String,
    /// What is wrong with it, for people.
    pub(crate) message: String,
}

/// What handlers answer.
pub(crate) type Answer<T> = Result<T, Problem>;

impl Problem {
    /// A failure of this kind.
    pub(crate) fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self::with_status(status(code), code, detail)
    }

    /// A failure with a status of its own.
    pub(crate) fn with_status(status: StatusCode, code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail: detail.into(),
            errors: Vec::new(),
        }
    }

    /// A request that cannot be meant.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidParam, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() {
            tracing::warn!(code = %self.code, detail = %self.detail, "failed");
        }
        let mut response = (status, axum::Json(&self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, PROBLEM);
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let detail = error.without_place();
        if detail != error.to_string() {
            // Where chats are kept is for those who run the server.
            tracing::warn!(%error, "store");
        }
        Self::new(error.code(), detail)
    }
}

impl From<NotBegun> for Problem {
    fn from(error: NotBegun) -> Self {
        match error {
            NotBegun::Ending => Self::new(ErrorCode::Unavailable, error.to_string()),
            NotBegun::Store(error) => error.into(),
        }
    }
}

/// The status that a code goes with.
fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidParam | ErrorCode::IsDirectory => StatusCode::BAD_REQUEST,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::AccessDenied
        | ErrorCode::PermissionDenied
        | ErrorCode::Untrusted
        | ErrorCode::Disabled => StatusCode::FORBIDDEN,
        ErrorCode::BinaryFile => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::Conflict => StatusCode::CONFLICT,
        ErrorCode::Unavailable | ErrorCode::SandboxUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::ExecutionError | ErrorCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_status() {
        let told: Vec<_> = ErrorCode::ALL.iter().map(|code| format!("{code} {}", status(*code))).collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
