//! Connections: how many, and how patiently. A client that opens one and says nothing is not waited for.

use std::net::SocketAddr;
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
use prowess_mcp::http::Peer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::app::App;
use crate::limits::PerAddress;

/// How long to wait when the system has no room for a connection.
const AGAIN: Duration = Duration::from_millis(500);

/// Takes connections until `close` is cancelled; then those that are idle are closed, and the others after their answer. Those
/// of an address that has its share already are closed at once; where `shares` is `None` there are no shares.
pub(crate) async fn listen(
    listener: TcpListener,
    app: App,
    router: Router,
    shares: Option<PerAddress>,
    close: CancellationToken,
) {
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
        let share = match shares.as_ref().map(|shares| shares.take(peer.ip())) {
            Some(None) => {
                app.metrics.too_many.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            share => share.flatten(),
        };
        // Words come in small pieces, and each would wait until the last is acknowledged.
        let _ = stream.set_nodelay(true);
        let peer = Peer::new(peer, stream.local_addr().ok());
        let router = router.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(peer.clone());
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
            drop((place, share));
        });
    }
    drop(listener);
    connections.shutdown().await;
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
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
