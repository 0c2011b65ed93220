//! Who is let in, and with what.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};

use super::sessions::Sessions;
use super::{BODY_MAX, Token};
use crate::malformed;

/// How long a message may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// Who is let in.
pub(super) struct Door {
    pub(super) token: Option<Token>,
    pub(super) sessions: Arc<Sessions>,
    /// The most sessions at once.
    pub(super) most: usize,
}

/// Lets a request in, or says why not.
pub(super) async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    if let Some(token) = &door.token
        && !token.is_shown(request.headers())
    {
        let mut response =
            (StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN\n").into_response();
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    match request.method() == Method::POST {
        true => read(&door, request, next).await,
        false => next.run(request).await,
    }
}

/// Hands a message on. The SDK refuses what is no message in words of its own; clients expect those of the protocol.
async fn read(door: &Door, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match tokio::time::timeout(ARRIVAL, axum::body::to_bytes(body, BODY_MAX)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => {
            let message = format!("a message has at most {BODY_MAX} bytes\n");
            return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the message did not arrive\n").into_response(),
    };
    let is_new = !parts.headers.contains_key("mcp-session-id");
    if is_new && begins(&bytes) && !door.sessions.make_room(door.most).await {
        let mut response = (StatusCode::SERVICE_UNAVAILABLE, "too many sessions\n").into_response();
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
        return response;
    }
    let response = next.run(Request::from_parts(parts, bytes.clone().into())).await;
    match response.status() {
        // Somebody is kept out, whatever they say.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => response,
        status if status.is_client_error() && parse(&bytes).is_none() => {
            let (id, error) = malformed::why(&bytes);
            let json = [(header::CONTENT_TYPE, "application/json")];
            (StatusCode::BAD_REQUEST, json, malformed::answer(id, &error)).into_response()
        }
        _ => response,
    }
}

fn parse(bytes: &Bytes) -> Option<ClientJsonRpcMessage> {
    serde_json::from_slice(bytes).ok()
}

/// Whether a message begins a session. Revisions without sessions take no room.
fn begins(bytes: &Bytes) -> bool {
    let is_first = |request: &ClientRequest| matches!(request, ClientRequest::InitializeRequest(_));
    matches!(parse(bytes), Some(JsonRpcMessage::Request(asked)) if is_first(&asked.request))
}
