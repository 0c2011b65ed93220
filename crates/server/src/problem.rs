//! What went wrong, as `application/problem+json`.

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
    /// The request, as the log has it and the header `X-Request-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    request_id: Option<Box<str>>,
    /// In how many seconds it is worth trying again.
    #[serde(skip)]
    retry: Option<u16>,
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
            request_id: None,
            retry: None,
        }
    }

    /// More requests than somebody may make; when to come back.
    pub(crate) fn too_many(wait: Duration) -> Self {
        let detail = "more requests than one client may make; wait, and then go on";
        let mut problem = Self::with_status(StatusCode::TOO_MANY_REQUESTS, ErrorCode::Unavailable, detail);
        problem.retry = Some(u16::try_from(wait.as_secs() + 1).unwrap_or(u16::MAX));
        problem
    }

    /// The same, with the request that it is about.
    pub(crate) fn of_request(mut self, id: &str) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// The words.
    pub(crate) fn body(&self) -> Body {
        serde_json::to_vec(self).unwrap_or_default().into()
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
        let mut response = (status, self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM);
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(self.retry.unwrap_or(5)));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // Whoever knows the id of the request adds it.
        response.extensions_mut().insert(self);
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
