//! Accepts connections, with limits on their number and on the time until a request arrives.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use prowess_mcp::http::Connections;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::limits::ConnectionsPerAddress;

/// Accepts connections until `close` is cancelled; then closes idle connections at once and the others after their response.
/// Connections of an address that exceeds its limit in `per_address` are closed immediately; `None` means no such limit.
pub(crate) async fn listen(
    listener: TcpListener,
    app: App,
    router: Router,
    per_address: Option<ConnectionsPerAddress>,
    close: CancellationToken,
) {
    let connections = Connections::new(listener, app.limits.head_timeout);
    let slots = Arc::new(Semaphore::new(app.limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    loop {
        let next = async {
            let permit = Arc::clone(&slots).acquire_owned().await;
            let (stream, client) = connections.accept().await;
            (permit, stream, client)
        };
        let (permit, stream, client) = tokio::select! {
            next = next => next,
            () = close.cancelled() => break,
        };
        let address_permit = match per_address.as_ref().map(|limit| limit.take(client.ip())) {
            Some(None) => {
                app.metrics.rate_limited.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            address_permit => address_permit.flatten(),
        };
        let connection = connections.serve(stream, client, router.clone());
        let app = app.clone();
        app.connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            connection.await;
            app.connections.fetch_sub(1, Ordering::Relaxed);
            drop((permit, address_permit));
        });
    }
    connections.shutdown().await;
}
