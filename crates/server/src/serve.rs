//! Starts a server and runs it until it is stopped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use prowess_chat::store::{Announcements, Store, Topic};
use prowess_package::FileUrls;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::api;
use crate::app::App;
use crate::guard::Guard;
use crate::limits::{ConnectionsPerAddress, Limits};
use crate::listen::listen;
use crate::reloadable::{LoadError, LoadFn, Reloadable};

/// How long clients have to receive the last events of their turns.
const FINAL_EVENTS: Duration = Duration::from_secs(1);

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Authentication and allowed hosts.
    pub guard: Guard,
    /// Rate and concurrency limits.
    pub limits: Limits,
    /// How long turns may continue while the server stops, before they are interrupted and marked.
    pub grace: Duration,
    /// Whether administrators may decide that scripts run, on the page and in MCP clients. Only for a server that other machines
    /// cannot reach: the script runs as the user who runs the server, and a lasting answer is saved in that user's configuration.
    pub ask_consent: bool,
    /// Whether administrators may install skills from `file://` repositories.
    pub file_urls: FileUrls,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            guard: Guard::default(),
            limits: Limits::default(),
            grace: Duration::from_secs(10),
            ask_consent: false,
            file_urls: FileUrls::Refused,
        }
    }
}

/// Why a server cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Other machines can reach the address, and no authentication is configured.
    #[error("{0} is reachable from other machines, and no token is configured")]
    Unprotected(SocketAddr),
    /// The configuration, the skills or the model cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The operating system returned an error.
    #[error("cannot serve: {0}")]
    Io(#[from] std::io::Error),
}

/// A server that is ready to accept requests.
pub struct Server {
    app: App,
    router: Router,
    options: ServerOptions,
}

impl Server {
    /// Loads the configuration and the skills. Must be called inside a Tokio runtime. Cancelling `stop` stops the server.
    pub fn new(
        load: Box<LoadFn>,
        store: Arc<dyn Store>,
        options: ServerOptions,
        stop: CancellationToken,
    ) -> Result<Self, ServeError> {
        let hosts = options.guard.hosts.added().to_vec();
        // MCP sessions end when the server stops.
        let reloadable = Reloadable::new(load, Arc::clone(&store), hosts, stop.child_token())?;
        let ServerOptions { ask_consent, file_urls, .. } = options;
        let app = App::new(reloadable, store, options.limits.clone(), ask_consent, file_urls, stop);
        let router = api::router(app.clone(), options.guard.clone());
        Ok(Self { app, router, options })
    }

    /// Returns the current skills.
    pub fn skills(&self) -> Arc<prowess::Snapshot> {
        self.app.reloadable.current().registry.snapshot()
    }

    /// Serves requests until the server is stopped. Then it starts no new turns, and waits until running turns have finished or
    /// are marked as interrupted. Meanwhile it still answers other requests, such as readiness checks.
    pub async fn serve(self, listener: TcpListener) -> Result<(), ServeError> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && !self.options.guard.has_authentication() {
            return Err(ServeError::Unprotected(address));
        }
        let Self { app, router, options } = self;
        let announcements = tokio::spawn(follow_announcements(app.clone(), app.store.announcements()));
        let close = CancellationToken::new();
        // Behind an authenticating proxy, all connections come from the address of the proxy.
        let per_address = options
            .guard
            .proxy_header
            .is_none()
            .then(|| ConnectionsPerAddress::new(options.limits.connections));
        let serving = listen(listener, app.clone(), router, per_address, close.clone());
        let stopped = async {
            app.stop.cancelled().await;
            tracing::info!(turns = app.turns.count(), "stopping");
            app.turns.finish(&*app.store, options.grace).await;
            close.cancel();
            // Clients that do not read must not delay the shutdown.
            tokio::time::sleep(FINAL_EVENTS).await;
        };
        tokio::select! {
            () = serving => {}
            () = stopped => {}
        }
        announcements.abort();
        tracing::info!("stopped");
        Ok(())
    }
}

/// Refreshes skills when another server announces a change.
async fn follow_announcements(app: App, mut announcements: Announcements) {
    while let Some(topic) = announcements.next().await {
        if matches!(topic, Topic::Skills | Topic::Missed) {
            let work = app.clone();
            let error_changed = tokio::task::spawn_blocking(move || {
                let previous_error = work.reloadable.error();
                work.reloadable.refresh();
                previous_error != work.reloadable.error()
            });
            // Pages reloaded before the configuration error changed, so they are notified again.
            if error_changed.await.unwrap_or(false) {
                app.store.announce(Topic::Skills);
            }
        }
    }
}
