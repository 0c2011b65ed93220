//! Accepts connections. A client that does not send the head of its request in time is disconnected.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};
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
            respond(router.clone(), request)
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

/// Responds to a request. If its body was not read completely, hyper closes the connection; the response says so, because a
/// client would otherwise send the next request on it.
async fn respond(router: Router, request: hyper::Request<Incoming>) -> Result<Response, Infallible> {
    let is_read = Arc::new(AtomicBool::new(hyper::body::Body::is_end_stream(request.body())));
    let request = request.map(|body| Body::new(TrackedBody { body, is_read: Arc::clone(&is_read) }));
    let mut response = router.oneshot(request).await?;
    if !is_read.load(Ordering::Relaxed) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// A request body that records whether it was read completely.
struct TrackedBody {
    body: Incoming,
    is_read: Arc<AtomicBool>,
}

impl hyper::body::Body for TrackedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if self.body.is_end_stream() || matches!(frame, Poll::Ready(None)) {
            self.is_read.store(true, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
