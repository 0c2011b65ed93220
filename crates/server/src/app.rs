//! State shared by all requests.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use prowess_chat::store::Store;
use prowess_package::FileUrls;
use tokio_util::sync::CancellationToken;

use crate::limits::{ConcurrencyLimit, Limits, TransferLimit};
use crate::metrics::Metrics;
use crate::reloadable::Reloadable;
use crate::turns::Turns;

/// State shared by all requests. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>);

/// The fields of [`App`].
pub(crate) struct AppState {
    pub(crate) reloadable: Reloadable,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) turns: Turns,
    pub(crate) limits: Limits,
    /// Open event streams.
    pub(crate) streams: ConcurrencyLimit,
    /// Uploads, downloads and imports, which are held in memory.
    pub(crate) transfers: TransferLimit,
    /// The number of open connections.
    pub(crate) connections: AtomicUsize,
    pub(crate) metrics: Arc<Metrics>,
    /// Whether skills may be installed from `file://` repositories.
    pub(crate) file_urls: FileUrls,
    /// Cancelled when the server must stop.
    pub(crate) stop: CancellationToken,
}

impl App {
    pub(crate) fn new(
        live: Reloadable,
        store: Arc<dyn Store>,
        limits: Limits,
        ask_consent: bool,
        file_urls: FileUrls,
        stop: CancellationToken,
    ) -> Self {
        let (connections, metrics) = (AtomicUsize::new(0), Arc::new(Metrics::default()));
        let turns = Turns::new(limits.turns, Arc::clone(&store), Arc::clone(&metrics), ask_consent);
        let streams = ConcurrencyLimit::new("event streams", limits.streams);
        Self(Arc::new(AppState {
            reloadable: live,
            store,
            turns,
            limits,
            streams,
            transfers: TransferLimit::default(),
            connections,
            metrics,
            file_urls,
            stop,
        }))
    }
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}
