//! A streamable HTTP client that limits the size of every response. The SDK's own client does not limit
//! JSON responses.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use prowess::remote::FetchError;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::MESSAGE_MAX;
use super::entry::display_text;

const SESSION_HEADER: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The maximum size of an error response that is read.
const ERROR_BODY_MAX: usize = 64 * 1024;

/// A client that limits responses and does not follow redirects, so that a token is sent only to its server.
#[derive(Debug, Clone)]
pub(super) struct BoundedHttpClient(Client);

type HttpFailure = StreamableHttpError<reqwest::Error>;

impl BoundedHttpClient {
    pub(super) fn new(is_local: bool) -> Result<Self, reqwest::Error> {
        // rustls has one crypto provider per process; it may be installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder().redirect(redirect::Policy::none()).pool_max_idle_per_host(0);
        let builder = if is_local { builder.no_proxy() } else { builder };
        builder.build().map(Self)
    }
}

/// Converts an error status. A JSON-RPC error in the body is passed on. A server without `server/discover` may answer
/// it with a 4xx status. That becomes a JSON-RPC error, so that the SDK falls back to the older handshake.
fn handle_error_status(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    status: StatusCode,
    body: &[u8],
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, HttpFailure> {
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
        _ => None,
    };
    let request_id: Option<&RequestId> = match message {
        ClientJsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    };
    let is_discover = matches!(message, ClientJsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::DiscoverRequest(_)));
    let error = match error {
        Some(error) => error,
        None if is_discover && !has_session && status.is_client_error() => {
            ErrorData::invalid_request(format!("HTTP {status}"), None)
        }
        None => return Err(unexpected_response(format!("HTTP {status}"))),
    };
    let error = ServerJsonRpcMessage::error(error, request_id.cloned());
    Ok(StreamableHttpPostResponse::Json(error, session))
}

/// Converts an error of a transport.
pub(super) fn transport_error(error: &(dyn std::error::Error + 'static)) -> FetchError {
    let Some(failure) = error.downcast_ref::<HttpFailure>() else {
        return FetchError::Unreachable(display_text(&error.to_string()));
    };
    match failure {
        StreamableHttpError::UnexpectedServerResponse(response) => {
            FetchError::UnexpectedResponse(display_text(response))
        }
        StreamableHttpError::UnexpectedContentType(content_type) => {
            FetchError::UnexpectedResponse(match content_type {
                Some(content_type) => format!("the content type {}", display_text(content_type)),
                None => "no content type".to_owned(),
            })
        }
        StreamableHttpError::SessionExpired => {
            FetchError::UnexpectedResponse("HTTP 404 Not Found: the session has expired".to_owned())
        }
        StreamableHttpError::Io(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            FetchError::UnexpectedResponse(format!("more than {MESSAGE_MAX} bytes"))
        }
        StreamableHttpError::Client(error) => FetchError::Unreachable(display_text(&error.to_string())),
        other => FetchError::Unreachable(display_text(&other.to_string())),
    }
}

fn unexpected_response(message: String) -> HttpFailure {
    StreamableHttpError::UnexpectedServerResponse(Cow::from(message))
}

fn too_long() -> std::io::Error {
    let message = format!("the response is larger than {MESSAGE_MAX} bytes");
    std::io::Error::new(std::io::ErrorKind::FileTooLarge, message)
}

async fn read_body(mut response: Response, max: usize) -> Result<Vec<u8>, HttpFailure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max {
            return Err(too_long().into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Returns the events of a response, with a limit for their total size.
fn bounded_events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut bytes = 0usize;
    let bounded = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        bytes = bytes.saturating_add(chunk.len());
        if bytes > MESSAGE_MAX { Err(too_long()) } else { Ok(chunk) }
    });
    SseStream::from_bytes_stream(bounded).boxed()
}

impl StreamableHttpClient for BoundedHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        let mut request = self.0.post(&*uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        let has_session = session_id.is_some();
        if let Some(session_id) = session_id {
            request = request.header(SESSION_HEADER, &*session_id);
        }
        let response = request.json(&message).send().await?;
        let status = response.status();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (content_type, session) =
            (header(CONTENT_TYPE.as_str()).unwrap_or_default(), header(SESSION_HEADER));
        match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if has_session => return Err(StreamableHttpError::SessionExpired),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(unexpected_response(format!("HTTP {status}: the token is missing or invalid")));
            }
            status if !status.is_success() => {
                let body = read_body(response, ERROR_BODY_MAX).await.unwrap_or_default();
                return handle_error_status(&message, has_session, status, &body, session);
            }
            _ => {}
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        if content_type.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(bounded_events(response), session));
        }
        if !content_type.starts_with(JSON) && is_request {
            return Err(StreamableHttpError::UnexpectedContentType(Some(content_type)));
        }
        let body = read_body(response, MESSAGE_MAX).await?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(response) => Ok(StreamableHttpPostResponse::Json(response, session)),
            // A notification has no response.
            Err(_) if !is_request => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(unexpected_response(format!("an invalid message: {error}"))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpFailure> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpFailure> {
        self.0
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                MESSAGE_MAX,
            )
            .await
    }
}
