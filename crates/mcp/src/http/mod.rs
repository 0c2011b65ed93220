//! Any number of clients over streamable HTTP.
//!
//! | module | subject |
//! |---|---|
//! | `connections` | accepting connections, and how long a client may take to send the head of a request |
//! | `door` | who is let in, and with what |
//! | `token` | a secret that clients show |
//! | `peer` | which user of this machine is at the other end |
//! | `sessions`, `calls`, `streams` | the sessions of the older revisions, and going on with streams that broke |
//!
//! What must always hold: nobody is answered whose `Host` or `Origin` is not known, and nobody but the user who runs the
//! server is answered without a token. Each session of the protocol is a [`Connection`] of its own; revisions of the protocol
//! without sessions get one for each request.

mod calls;
mod connections;
mod door;
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

use crate::{Connection, Server};
pub use connections::Connections;
use door::{Door, guard};
pub use peer::Peer;
use sessions::Sessions;
pub use token::Token;

/// Where clients find it.
pub const PATH: &str = "/mcp";

/// How long clients may take to hear the end of what they are told when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// The longest message.
const BODY_MAX: usize = 4 * 1024 * 1024;

/// Who may come, and how many.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// What clients have to show; needed wherever others than this machine can reach it.
    pub token: Option<Token>,
    /// Names beside those of this machine by which it may be reached, with or without a port.
    pub hosts: Vec<String>,
    /// The most sessions at once. Beyond it, the session that was idle the longest ends for each new one.
    pub sessions: usize,
    /// How long a client may take to send the head of a request. Of no effect on a [`router`] in a larger server.
    pub header_timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { token: None, hosts: Vec::new(), sessions: 1_000, header_timeout: Duration::from_secs(10) }
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
    let (for_everyone, header_timeout) = (options.token.is_some(), options.header_timeout);
    let mut router = router(server, options, stop.clone());
    if !for_everyone {
        router = router.layer(middleware::from_fn(same_user));
    }
    let connections = Connections::new(listener, header_timeout);
    loop {
        let (stream, client) = tokio::select! {
            accepted = connections.accept() => accepted,
            () = stop.cancelled() => break,
        };
        tokio::spawn(connections.serve(stream, client, router.clone()));
    }
    // A client that does not read does not keep the server from ending.
    let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
    Ok(())
}

/// Answers only the user who runs this process, and root.
async fn same_user(Extension(peer): Extension<Peer>, request: Request, next: Next) -> Response {
    match peer.is_same_user().await {
        true => next.run(request).await,
        false => (
            StatusCode::UNAUTHORIZED,
            "this server belongs to another user of this machine; start it with --token-file to share it\n",
        )
            .into_response(),
    }
}

/// What answers at [`PATH`], to be put into a larger server. Has to be called inside a runtime, which ends the sessions
/// when `stop` is cancelled.
pub fn router(server: &Server, options: HttpOptions, stop: CancellationToken) -> Router {
    let sessions = Arc::new(Sessions::new());
    tokio::spawn(Sessions::close_when(Arc::downgrade(&sessions), stop.clone()));
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
        .with_cancellation_token(stop.clone());
    let made = server.clone();
    let service: StreamableHttpService<Connection, Sessions> =
        StreamableHttpService::new(move || Ok(made.connection_until(&stop)), Arc::clone(&sessions), config);
    let door = Door { token: options.token, sessions, most: options.sessions };
    Router::new().route_service(PATH, service).layer(middleware::from_fn_with_state(Arc::new(door), guard))
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
    fn a_port_is_told_from_an_address() {
        assert_eq!(without_port("example.org:80"), "example.org");
        assert_eq!(without_port("example.org"), "example.org");
        assert_eq!(without_port("[::1]"), "[::1]");
    }
}
