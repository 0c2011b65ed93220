//! Checks requests: tokens, size, and the number of sessions.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};

use super::sessions::ResumableSessions;
use super::{AccessToken, BODY_MAX};
use crate::malformed;

/// The timeout for receiving a message.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Checks requests before they reach the SDK.
pub(super) struct RequestGuard {
    pub(super) token: Option<AccessToken>,
    pub(super) sessions: Arc<ResumableSessions>,
    /// The maximum number of sessions.
    pub(super) max_sessions: usize,
}

/// Passes a request on, or rejects it.
pub(super) async fn check_request(
    State(guard): State<Arc<RequestGuard>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(token) = &guard.token
        && !token.is_in_headers(request.headers())
    {
        let mut response =
            (StatusCode::UNAUTHORIZED, "a token is required: Authorization: Bearer TOKEN\n").into_response();
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    match request.method() == Method::POST {
        true => check_message(&guard, request, next).await,
        false => next.run(request).await,
    }
}

/// Passes a message on. Replaces the SDK's response to an invalid message with a protocol error.
async fn check_message(guard: &RequestGuard, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, BODY_MAX)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => {
            let message = format!("a message can have at most {BODY_MAX} bytes\n");
            return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
        Err(_) => {
            return (StatusCode::REQUEST_TIMEOUT, "timeout while receiving the message\n").into_response();
        }
    };
    // The SDK ignores a session id that is not text, too.
    let session = parts.headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
    let is_new = session.is_none();
    if is_new && is_initialize(&bytes) && !guard.sessions.make_room(guard.max_sessions).await {
        let mut response = (StatusCode::SERVICE_UNAVAILABLE, "too many sessions\n").into_response();
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
        return response;
    }
    let response = next.run(Request::from_parts(parts, bytes.clone().into())).await;
    match response.status() {
        // An authorization error keeps its own message.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => response,
        status if status.is_client_error() && parse(&bytes).is_none() => {
            let (id, error) = malformed::describe_error(&bytes);
            let json = [(header::CONTENT_TYPE, "application/json")];
            (StatusCode::BAD_REQUEST, json, malformed::error_response(id, &error)).into_response()
        }
        _ => response,
    }
}

fn parse(bytes: &Bytes) -> Option<ClientJsonRpcMessage> {
    serde_json::from_slice(bytes).ok()
}

/// Returns `true` if a message creates a session. Later revisions of the protocol have no sessions.
fn is_initialize(bytes: &Bytes) -> bool {
    let is_initialize = |request: &ClientRequest| matches!(request, ClientRequest::InitializeRequest(_));
    matches!(parse(bytes), Some(JsonRpcMessage::Request(message)) if is_initialize(&message.request))
}
