//! Connections: how many, and how patiently. A client that opens one and says nothing is not waited for.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use prowess_mcp::http::Connections;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::limits::PerAddress;

/// Takes connections until `close` is cancelled; then those that are idle are closed, and the others after their answer. Those
/// of an address that has its share already are closed at once; where `shares` is `None` there are no shares.
pub(crate) async fn listen(
    listener: TcpListener,
    app: App,
    router: Router,
    shares: Option<PerAddress>,
    close: CancellationToken,
) {
    let connections = Connections::new(listener, app.limits.head);
    let room = Arc::new(Semaphore::new(app.limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await;
            let (stream, client) = connections.accept().await;
            (place, stream, client)
        };
        let (place, stream, client) = tokio::select! {
            next = next => next,
            () = close.cancelled() => break,
        };
        let share = match shares.as_ref().map(|shares| shares.take(client.ip())) {
            Some(None) => {
                app.metrics.too_many.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            share => share.flatten(),
        };
        let connection = connections.serve(stream, client, router.clone());
        let app = app.clone();
        app.connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            connection.await;
            app.connections.fetch_sub(1, Ordering::Relaxed);
            drop((place, share));
        });
    }
    connections.shutdown().await;
}
