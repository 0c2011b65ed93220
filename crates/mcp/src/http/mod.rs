//! Serves any number of clients over streamable HTTP.
//!
//! | module | subject |
//! |---|---|
//! | `connections` | accepts connections, with a timeout for the head of a request |
//! | `guard` | checks tokens, sizes and the number of sessions |
//! | `token` | the access token |
//! | `peer` | which user of this machine opened a connection |
//! | `sessions`, `calls`, `streams` | sessions of older revisions, and resuming interrupted streams |
//!
//! Invariants: a request with an unknown `Host` or `Origin` is rejected; without a token, only the user who runs
//! the server is served. With a token, clients may belong to others, and are not asked about scripts. Each session of
//! the protocol is a separate [`Connection`]; revisions without sessions get one per request.

mod calls;
mod connections;
mod guard;
mod peer;
mod sessions;
mod streams;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use crate::owner::OwnerRequest;
use crate::{Connection, McpServer};
pub use connections::Connections;
use guard::{RequestGuard, check_request};
pub use peer::Peer;
use sessions::ResumableSessions;
pub use token::AccessToken;

/// The path of the endpoint.
pub const MCP_PATH: &str = "/mcp";

/// How long the server waits for responses to be sent when it stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum size of a message in bytes.
const BODY_MAX: usize = 4 * 1024 * 1024;

/// The options of the HTTP server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The access token; required if other machines can reach the server.
    pub token: Option<AccessToken>,
    /// Additional host names by which the server may be reached, with or without a port.
    pub hosts: Vec<String>,
    /// The maximum number of sessions. Beyond it, a new session ends the one that was idle the longest.
    pub max_sessions: usize,
    /// The timeout for the head of a request. Has no effect on a [`router`] in a larger server.
    pub header_timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { token: None, hosts: Vec::new(), max_sessions: 1_000, header_timeout: Duration::from_secs(10) }
    }
}

/// The reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeHttpError {
    /// Other machines can reach the server, and there is no token.
    #[error("{0} is reachable from other machines, which requires a token")]
    TokenRequired(SocketAddr),
    /// The token is too weak.
    #[error("a token must have at least 16 characters and no spaces")]
    InvalidToken,
    /// An I/O error.
    #[error("cannot serve: {0}")]
    Io(#[from] std::io::Error),
}

/// Serves clients until `stop` is cancelled. Then streams end, and pending calls are cancelled.
pub async fn serve(
    server: &McpServer,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) -> Result<(), ServeHttpError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() && options.token.is_none() {
        return Err(ServeHttpError::TokenRequired(address));
    }
    let (has_token, header_timeout) = (options.token.is_some(), options.header_timeout);
    let mut router = router(server, options, stop.clone());
    if !has_token {
        router = router.layer(middleware::from_fn(require_same_user));
    }
    let connections = Connections::new(listener, header_timeout);
    loop {
        let (stream, client) = tokio::select! {
            accepted = connections.accept() => accepted,
            () = stop.cancelled() => break,
        };
        tokio::spawn(connections.serve(stream, client, router.clone()));
    }
    // A client that does not read must not prevent the server from stopping.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.shutdown()).await;
    Ok(())
}

/// Serves only the user who runs this process, and root.
async fn require_same_user(Extension(peer): Extension<Peer>, mut request: Request, next: Next) -> Response {
    match peer.is_same_user().await {
        true => {
            request.extensions_mut().insert(OwnerRequest);
            next.run(request).await
        }
        false => (
            StatusCode::UNAUTHORIZED,
            "this server belongs to another user of this machine; start it with --token-file to share it\n",
        )
            .into_response(),
    }
}

/// Returns the router for [`MCP_PATH`], for use in a larger server, which marks the requests of its owner as
/// [`OwnerRequest`]. Must be called inside a runtime, which ends the sessions when `stop` is cancelled.
pub fn router(server: &McpServer, options: HttpOptions, stop: CancellationToken) -> Router {
    let sessions = Arc::new(ResumableSessions::new());
    tokio::spawn(ResumableSessions::close_on_stop(Arc::downgrade(&sessions), stop.clone()));
    let loopback = ["localhost", "127.0.0.1", "[::1]"];
    let hosts: Vec<&str> =
        loopback.into_iter().chain(["::1"]).chain(options.hosts.iter().map(String::as_str)).collect();
    let names = loopback.into_iter().chain(options.hosts.iter().map(|host| without_port(host)));
    let origins: Vec<String> =
        names.flat_map(|name| [format!("http://{name}:*"), format!("https://{name}:*")]).collect();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.iter().map(|host| (*host).to_owned()))
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_MAX)
        .with_cancellation_token(stop.clone());
    let server = server.clone();
    let service: StreamableHttpService<Connection, ResumableSessions> =
        StreamableHttpService::new(move || Ok(server.connect_http(&stop)), Arc::clone(&sessions), config);
    let request_guard = RequestGuard { token: options.token, sessions, max_sessions: options.max_sessions };
    Router::new()
        .route_service(MCP_PATH, service)
        .layer(middleware::from_fn_with_state(Arc::new(request_guard), check_request))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_distinguished_from_an_address() {
        assert_eq!(without_port("example.org:80"), "example.org");
        assert_eq!(without_port("example.org"), "example.org");
        assert_eq!(without_port("[::1]"), "[::1]");
    }
}
