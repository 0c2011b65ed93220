//! Connections: how many, and how patiently. A client that opens one and says nothing is not waited for.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::app::App;

/// How long to wait when the system has no room for a connection.
const AGAIN: Duration = Duration::from_millis(500);

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Takes connections until `close` is cancelled; then those that are idle are closed, and the others after their answer.
pub(crate) async fn listen(listener: TcpListener, app: App, router: Router, close: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.limits.head);
    let room = Arc::new(Semaphore::new(app.limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let connections = GracefulShutdown::new();
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await;
            let (stream, peer) = accept(&listener).await;
            (place, stream, peer)
        };
        let (place, stream, peer) = tokio::select! {
            next = next => next,
            () = close.cancelled() => break,
        };
        // Words come in small pieces, and each would wait until the last is acknowledged.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            router.clone().oneshot(request.map(Body::new))
        });
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        let app = app.clone();
        app.connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                // It broke off, was no HTTP, or was too slow.
                tracing::debug!(%error, "connection");
            }
            app.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

async fn accept(listener: &TcpListener) -> (TcpStream, IpAddr) {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer.ip()),
            // One that was gone before it was taken.
            Err(error) if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) => {
            }
            Err(error) => {
                tracing::error!(%error, "no connection can be taken");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}
