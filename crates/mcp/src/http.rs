//! Any number of clients over streamable HTTP.
//!
//! What must always hold: nobody is answered whose `Host` or `Origin` is not known, and nobody beyond this machine is
//! answered without a token. Each session of the protocol is a [`Connection`] of its own; revisions of the protocol
//! without sessions get one for each request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{Connection, Server, malformed};

/// Where clients find it.
pub const PATH: &str = "/mcp";

/// How long a session may be silent. Agents wait for people, and people have lunch.
const SILENCE: Duration = Duration::from_secs(60 * 60);

/// How long a call that was answered can still be asked for by a client whose stream broke.
const RESUME: Duration = Duration::from_secs(60);

/// The longest message.
const BODY_MAX: usize = 4 * 1024 * 1024;

/// Who may come, and how many.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// What clients have to show; needed wherever others than this machine can reach it.
    pub token: Option<Token>,
    /// Names beside those of this machine by which it may be reached, with or without a port.
    pub hosts: Vec<String>,
    /// The most sessions at once.
    pub sessions: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { token: None, hosts: Vec::new(), sessions: 1_000 }
    }
}

/// A secret that clients show. It is never printed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes a text for a token: at least 16 characters, none of them blank.
    pub fn new(text: &str) -> Result<Self, HttpError> {
        let is_plain = text.chars().all(|c| c.is_ascii_graphic());
        match is_plain && text.len() >= 16 {
            true => Ok(Self(prowess::digest(text.as_bytes()))),
            false => Err(HttpError::Token),
        }
    }

    /// Whether a request shows it. How long that takes says nothing about the token.
    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let shown = shown.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        let shown = prowess::digest(shown.unwrap_or_default().as_bytes());
        let differences = self.0.bytes().zip(shown.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        differences == 0 && shown.len() == self.0.len()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Others could reach it, and nothing keeps them out.
    #[error("{0} can be reached from other machines, and there is no token")]
    Open(SocketAddr),
    /// A token that could be guessed.
    #[error("a token has at least 16 characters, and no blanks")]
    Token,
    /// The system refused.
    #[error("it cannot be served: {0}")]
    Os(#[from] std::io::Error),
}

/// Serves clients until `stop` is cancelled; then streams end, and calls under way are given up.
pub async fn serve(
    server: &Server,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) -> Result<(), HttpError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() && options.token.is_none() {
        return Err(HttpError::Open(address));
    }
    let router = router(server, options, stop.clone());
    Ok(axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await?)
}

/// What answers at [`PATH`], to be put into a larger server.
pub fn router(server: &Server, options: HttpOptions, stop: CancellationToken) -> Router {
    let mut session = SessionConfig::default();
    session.keep_alive = Some(SILENCE);
    session.completed_cache_ttl = RESUME;
    let mut manager = LocalSessionManager::default();
    manager.session_config = session;
    let manager = Arc::new(manager);
    let local = ["localhost", "127.0.0.1", "[::1]"];
    let hosts: Vec<&str> =
        local.into_iter().chain(["::1"]).chain(options.hosts.iter().map(String::as_str)).collect();
    let names = local.into_iter().chain(options.hosts.iter().map(|host| without_port(host)));
    let origins: Vec<String> =
        names.flat_map(|name| [format!("http://{name}:*"), format!("https://{name}:*")]).collect();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.iter().map(|host| (*host).to_owned()))
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_MAX)
        .with_cancellation_token(stop);
    let made = server.clone();
    let service: StreamableHttpService<Connection, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(made.connection()), Arc::clone(&manager), config);
    let door = Door { token: options.token, manager, sessions: options.sessions };
    Router::new().route_service(PATH, service).layer(middleware::from_fn_with_state(Arc::new(door), guard))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Who is let in.
struct Door {
    token: Option<Token>,
    manager: Arc<LocalSessionManager>,
    sessions: usize,
}

async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    if let Some(token) = &door.token
        && !token.is_shown(request.headers())
    {
        let mut response =
            (StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN\n").into_response();
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    let begins = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if begins && door.manager.sessions.read().await.len() >= door.sessions {
        let mut response = (StatusCode::SERVICE_UNAVAILABLE, "too many sessions\n").into_response();
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
        return response;
    }
    match request.method() == Method::POST {
        true => read(request, next).await,
        false => next.run(request).await,
    }
}

/// Hands a message on. The SDK refuses what is no message in words of its own; clients expect those of the protocol.
async fn read(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, BODY_MAX).await else {
        let message = format!("a message has at most {BODY_MAX} bytes\n");
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let response = next.run(Request::from_parts(parts, bytes.clone().into())).await;
    let is_refused = response.status().is_client_error();
    if is_refused && serde_json::from_slice::<ClientJsonRpcMessage>(&bytes).is_err() {
        let (id, error) = malformed::why(&bytes);
        let json = [(header::CONTENT_TYPE, "application/json")];
        let status = match response.status() {
            // Somebody is kept out, whatever they say.
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return response,
            _ => StatusCode::BAD_REQUEST,
        };
        return (status, json, malformed::answer(id, &error)).into_response();
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_or_not() {
        let token = Token::new("0123456789abcdef").unwrap();
        let shown = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))]);
            token.is_shown(&headers)
        };
        assert!(shown("Bearer 0123456789abcdef") && shown("bearer  0123456789abcdef"));
        assert!(!shown("Bearer 0123456789abcdeg") && !shown("0123456789abcdef") && !shown("Bearer "));
        assert!(!token.is_shown(&HeaderMap::new()));
        assert!(Token::new("short").is_err() && Token::new("0123456789 abcdef").is_err());
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_port_is_told_from_an_address() {
        assert_eq!(without_port("example.org:80"), "example.org");
        assert_eq!(without_port("example.org"), "example.org");
        assert_eq!(without_port("[::1]"), "[::1]");
    }
}
