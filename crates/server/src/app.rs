//! What all requests share.

use std::ops::Deref;
use std::sync::Arc;

use prowess_chat::store::Store;
use tokio_util::sync::CancellationToken;

use crate::chats::Turns;
use crate::live::Live;

/// What all requests share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

/// The server, without its door.
pub(crate) struct Shared {
    pub(crate) live: Live,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) turns: Turns,
    /// Cancelled when the server is asked to end.
    pub(crate) stop: CancellationToken,
}

impl App {
    pub(crate) fn new(live: Live, store: Arc<dyn Store>, stop: CancellationToken) -> Self {
        Self(Arc::new(Shared { live, store, turns: Turns::default(), stop }))
    }
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
