//! A [`ModelServer`] for synchronous tests, such as those that start the binary.

use std::ops::Deref;

use tokio::runtime::{Builder, Runtime};

use super::{ModelServer, RecordedRequest, Reply};

/// A model server on its own runtime.
pub struct BlockingModelServer {
    server: ModelServer,
    _runtime: Runtime,
}

impl BlockingModelServer {
    /// Starts a server with these replies, see [`ModelServer::start`].
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(ModelServer::start(replies));
        Self { server, _runtime: runtime }
    }

    /// Starts a server with a request handler, see [`ModelServer::with_handler`].
    pub fn with_handler(handler: impl Fn(&RecordedRequest, usize) -> Reply + Send + Sync + 'static) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(ModelServer::with_handler(handler));
        Self { server, _runtime: runtime }
    }
}

impl Deref for BlockingModelServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.server
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
