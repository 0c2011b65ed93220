//! What all requests share.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use prowess_chat::store::Store;
use tokio_util::sync::CancellationToken;

use crate::limits::{Limits, Room};
use crate::live::Live;
use crate::metrics::Metrics;
use crate::turns::Turns;

/// What all requests share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

/// The server, without its door.
pub(crate) struct Shared {
    pub(crate) live: Live,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) turns: Turns,
    pub(crate) limits: Limits,
    /// Streams of events that are open.
    pub(crate) streams: Room,
    /// Connections that are open.
    pub(crate) connections: AtomicUsize,
    pub(crate) metrics: Arc<Metrics>,
    /// Cancelled when the server is asked to end.
    pub(crate) stop: CancellationToken,
}

impl App {
    pub(crate) fn new(live: Live, store: Arc<dyn Store>, limits: Limits, stop: CancellationToken) -> Self {
        let (connections, metrics) = (AtomicUsize::new(0), Arc::new(Metrics::default()));
        let turns = Turns::new(limits.turns, Arc::clone(&store), Arc::clone(&metrics));
        let streams = Room::new("streams of events", limits.streams);
        Self(Arc::new(Shared { live, store, turns, limits, streams, connections, metrics, stop }))
    }
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
