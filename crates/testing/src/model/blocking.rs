//! The same server for tests that do not wait for anything themselves, because they start programs.

use std::ops::Deref;

use tokio::runtime::{Builder, Runtime};

use super::{Asked, Reply, Server};

/// A server with threads of its own.
pub struct Blocking {
    server: Server,
    _runtime: Runtime,
}

impl Blocking {
    /// A server that gives these replies.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(Server::start(replies));
        Self { server, _runtime: runtime }
    }

    /// A server that looks at each request before it answers.
    pub fn answering(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(Server::answering(answer));
        Self { server, _runtime: runtime }
    }
}

impl Deref for Blocking {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
