//! Accepts connections. A client that does not send the head of its request in time is disconnected.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use super::Peer;

/// How long to wait if the system has no resources for a connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(500);

/// The connections of a listener.
pub struct Connections {
    listener: TcpListener,
    http: http1::Builder,
    open: GracefulShutdown,
}

impl Connections {
    /// Accepts connections from `listener`. A connection on which the head of a request is expected is closed after
    /// `header_timeout`.
    pub fn new(listener: TcpListener, header_timeout: Duration) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(header_timeout);
        Self { listener, http, open: GracefulShutdown::new() }
    }

    /// Waits for the next connection.
    pub async fn accept(&self) -> (TcpStream, SocketAddr) {
        use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        loop {
            match self.listener.accept().await {
                Ok(accepted) => return accepted,
                // The client closed the connection before it was accepted.
                Err(error)
                    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) => {}
                Err(error) => {
                    tracing::error!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            }
        }
    }

    /// Serves the requests of a connection until it is closed. Each request has its [`Peer`] as an extension.
    pub fn serve(
        &self,
        stream: TcpStream,
        client: SocketAddr,
        router: Router,
    ) -> impl Future<Output = ()> + Send + use<> {
        // A response is sent in small pieces, which would each wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let peer = Peer::new(client, stream.local_addr().ok());
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(peer.clone());
            router.clone().oneshot(request.map(Body::new))
        });
        let connection = self.open.watch(self.http.serve_connection(TokioIo::new(stream), service));
        async move {
            if let Err(error) = connection.await {
                // It was closed by the client, was not HTTP, or was too slow.
                tracing::debug!(%error, "connection");
            }
        }
    }

    /// Stops listening, and closes idle connections at once and the others after their response.
    pub async fn shutdown(self) {
        drop(self.listener);
        self.open.shutdown().await;
    }
}
