//! Streamable HTTP, with a bound on every answer. The SDK's own client reads JSON answers to their end, however long.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::MESSAGE_MAX;

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// How much of an answer that is a failure is read.
const FAILURE_MAX: usize = 64 * 1024;

/// A client that reads no answer beyond a bound and follows no redirection: a token is for the server it is for.
#[derive(Debug, Clone)]
pub(super) struct Bounded(Client);

type Failure = StreamableHttpError<reqwest::Error>;

impl Bounded {
    pub(super) fn new(local: bool) -> Result<Self, reqwest::Error> {
        // There can be one for the process; that another is there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder().redirect(redirect::Policy::none()).pool_max_idle_per_host(0);
        let builder = if local { builder.no_proxy() } else { builder };
        builder.build().map(Self)
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut request = self.0.post(uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let has_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        let response = request.json(message).send().await?;
        let status = response.status();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (kind, session) = (header(CONTENT_TYPE.as_str()).unwrap_or_default(), header(SESSION));
        match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if has_session => return Err(StreamableHttpError::SessionExpired),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(said(format!("HTTP {status}: a token is needed, or another one")));
            }
            status if !status.is_success() => {
                let body = body(response, FAILURE_MAX).await.unwrap_or_default();
                return refused(message, has_session, status, &body, session);
            }
            _ => {}
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        if !kind.starts_with(JSON) && is_request {
            return Err(StreamableHttpError::UnexpectedContentType(Some(super::entry::shown(&kind))));
        }
        let body = body(response, MESSAGE_MAX).await?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            // Nobody waits for an answer to a notification.
            Err(_) if !is_request => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(said(format!("the answer is no message: {error}"))),
        }
    }
}

/// What a failure means. A server that does not know `server/discover` may say so by any status: then the older way to
/// begin is tried, if the failure comes as an answer to that call.
fn refused(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    status: StatusCode,
    body: &[u8],
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let answer = match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
        _ => None,
    };
    let request: Option<&RequestId> = match message {
        ClientJsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    };
    let discovers = matches!(message, ClientJsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::DiscoverRequest(_)));
    let error = match answer {
        Some(error) => error,
        None if discovers && !has_session && status.is_client_error() => {
            ErrorData::invalid_request(format!("HTTP {status}"), None)
        }
        None => return Err(said(format!("HTTP {status}"))),
    };
    let error = ServerJsonRpcMessage::error(error, request.cloned());
    Ok(StreamableHttpPostResponse::Json(error, session))
}

fn said(what: String) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(Cow::from(what))
}

fn too_long() -> std::io::Error {
    std::io::Error::other(format!("the answer has more than {MESSAGE_MAX} bytes"))
}

async fn body(mut response: Response, max: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max {
            return Err(too_long().into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The events of an answer, all of them together within the bound.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut bytes = 0usize;
    let bounded = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        bytes = bytes.saturating_add(chunk.len());
        if bytes > MESSAGE_MAX { Err(too_long()) } else { Ok(chunk) }
    });
    SseStream::from_bytes_stream(bounded).boxed()
}

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post(&uri, &message, session_id, auth_header, custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let max = MESSAGE_MAX;
        self.0
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max,
            )
            .await
    }
}
