//! A server from its first request to its last.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use prowess_chat::store::{Announcements, Store, Topic};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::api;
use crate::app::App;
use crate::guard::Guard;
use crate::limits::{Limits, PerAddress};
use crate::listen::listen;
use crate::live::{Live, Load, LoadError};

/// How long those who listen may take to hear how their turns ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a server behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who is let in.
    pub guard: Guard,
    /// How much it takes on.
    pub limits: Limits,
    /// How long turns may go on when the server is stopped, before they are ended with a marker.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { guard: Guard::default(), limits: Limits::default(), grace: Duration::from_secs(10) }
    }
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Others could reach it, and nothing keeps them out.
    #[error("{0} can be reached from other machines, and there is no token")]
    Open(SocketAddr),
    /// The skills or the model cannot be had.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The system refused.
    #[error("it cannot be served: {0}")]
    Os(#[from] std::io::Error),
}

/// A server that has what it needs and is about to answer.
pub struct Server {
    app: App,
    router: Router,
    options: Options,
}

impl Server {
    /// Reads the configuration and scans. Has to be called inside a runtime. `stop` ends it.
    pub fn new(
        load: Box<Load>,
        store: Arc<dyn Store>,
        options: Options,
        stop: CancellationToken,
    ) -> Result<Self, ServeError> {
        let hosts = options.guard.names.added().to_vec();
        // Sessions of MCP end with the listener.
        let live = Live::new(load, Arc::clone(&store), hosts, stop.child_token())?;
        let app = App::new(live, store, options.limits.clone(), stop);
        let router = api::router(app.clone(), options.guard.clone());
        Ok(Self { app, router, options })
    }

    /// The skills as they are now.
    pub fn skills(&self) -> Arc<prowess::Snapshot> {
        self.app.live.now().registry.snapshot()
    }

    /// Answers until it is stopped: then nothing new is begun, and turns finish or are marked. Until they have, questions are
    /// answered, among them whether requests should be sent here.
    pub async fn serve(self, listener: TcpListener) -> Result<(), ServeError> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && !self.options.guard.knows_people() {
            return Err(ServeError::Open(address));
        }
        let Self { app, router, options } = self;
        let heard = tokio::spawn(hear(app.clone(), app.store.announcements()));
        let close = CancellationToken::new();
        // Behind a proxy that names people, all of them come from its address.
        let shares = options.guard.proxy_header.is_none().then(|| PerAddress::of(options.limits.connections));
        let serving = listen(listener, app.clone(), router, shares, close.clone());
        let ended = async {
            app.stop.cancelled().await;
            tracing::info!(turns = app.turns.count(), "stopping");
            app.turns.finish(&*app.store, options.grace).await;
            close.cancel();
            // Whoever does not read does not keep it from ending.
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            () = serving => {}
            () = ended => {}
        }
        heard.abort();
        tracing::info!("stopped");
        Ok(())
    }
}

/// What other servers say: skills changed there may be skills here.
async fn hear(app: App, mut announcements: Announcements) {
    while let Some(topic) = announcements.next().await {
        if matches!(topic, Topic::Skills | Topic::Missed) {
            let work = app.clone();
            let caught_up = tokio::task::spawn_blocking(move || {
                let before = work.live.error();
                work.live.catch_up();
                before != work.live.error()
            });
            // Pages that have been told of the change already look again.
            if caught_up.await.unwrap_or(false) {
                app.store.announce(Topic::Skills);
            }
        }
    }
}
