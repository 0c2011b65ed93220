//! What all requests share.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use prowess_chat::store::Store;
use tokio_util::sync::CancellationToken;

use crate::chats::Turns;
use crate::limits::{Limits, Room};
use crate::live::Live;
use crate::operate::Metrics;

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
    pub(crate) metrics: Metrics,
    /// Cancelled when the server is asked to end.
    pub(crate) stop: CancellationToken,
}

impl App {
    pub(crate) fn new(live: Live, store: Arc<dyn Store>, limits: Limits, stop: CancellationToken) -> Self {
        let (turns, streams) = (Turns::new(limits.turns), Room::new("streams of events", limits.streams));
        let (connections, metrics) = (AtomicUsize::new(0), Metrics::default());
        Self(Arc::new(Shared { live, store, turns, limits, streams, connections, metrics, stop }))
    }
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
