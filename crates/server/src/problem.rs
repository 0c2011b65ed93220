//! Error responses, as `application/problem+json`.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prowess::ErrorCode;
use prowess_chat::store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

/// The media type.
pub(crate) const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// An error response (RFC 9457) with a machine-readable code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`; `code` identifies the kind of error.
    #[schema(example = "about:blank")]
    r#type: &'static str,
    /// The text of the HTTP status.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The error code.
    #[schema(value_type = String, example = "NOT_FOUND")]
    pub(crate) code: ErrorCode,
    /// A description for people.
    pub(crate) detail: String,
    /// Errors of individual fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<FieldProblem>,
    /// The request id, as in the log and in the header `X-Request-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    request_id: Option<Box<str>>,
    /// The number of seconds after which the client should retry.
    #[serde(skip)]
    retry: Option<u16>,
}

/// An error of one field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FieldError)]
pub(crate) struct FieldProblem {
    /// The field.
    pub(crate) field: String,
    /// A description for people.
    pub(crate) message: String,
}

/// The result of a handler.
pub(crate) type ApiResult<T> = Result<T, Problem>;

impl Problem {
    /// Creates a problem with the usual status of this code.
    pub(crate) fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self::with_status(status(code), code, detail)
    }

    /// Creates a problem with an explicit status.
    pub(crate) fn with_status(status: StatusCode, code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail: detail.into(),
            errors: Vec::new(),
            request_id: None,
            retry: None,
        }
    }

    /// Creates a rate limit error that asks the client to retry after `wait`.
    pub(crate) fn too_many(wait: Duration) -> Self {
        let detail = "rate limit exceeded; retry later";
        let mut problem = Self::with_status(StatusCode::TOO_MANY_REQUESTS, ErrorCode::Unavailable, detail);
        problem.retry = Some(u16::try_from(wait.as_secs() + 1).unwrap_or(u16::MAX));
        problem
    }

    /// Adds the id of the request.
    pub(crate) fn with_request_id(mut self, id: &str) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Returns the JSON body.
    pub(crate) fn body(&self) -> Body {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Creates an error for an invalid request.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidParam, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() {
            tracing::warn!(code = %self.code, detail = %self.detail, "request failed");
        }
        let mut response = (status, self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM);
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(self.retry.unwrap_or(5)));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // `observe` adds the request id.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let detail = error.public_message();
        if detail != error.to_string() {
            // Only operators may see where chats are stored.
            tracing::warn!(%error, "store error");
        }
        Self::new(error.code(), detail)
    }
}

/// Returns the HTTP status of an error code.
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
        let lines: Vec<_> = ErrorCode::ALL.iter().map(|code| format!("{code} {}", status(*code))).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
