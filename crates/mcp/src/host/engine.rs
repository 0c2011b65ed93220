//! Where calls to servers wait, apart from their callers: those need no async, and may have an async of their own.

use std::future::Future;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// How much longer a caller waits than what it waits for has.
const GRACE: Duration = Duration::from_secs(2);

/// A runtime that is there once it is needed.
#[derive(Debug, Default)]
pub(super) struct Engine {
    runtime: Mutex<Option<Runtime>>,
}

impl Engine {
    /// Starts something and does not wait for it. Says whether it could be started.
    pub(super) fn start(&self, work: impl Future<Output = ()> + Send + 'static) -> bool {
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        if runtime.is_none() {
            *runtime = Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("prowess-mcp")
                .enable_all()
                .build()
                .ok();
        }
        runtime.as_ref().map(|runtime| runtime.spawn(work)).is_some()
    }

    /// Does something that keeps a deadline of its own, and waits for it; `None` where it does not end.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        deadline: Duration,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (done, answer) = mpsc::sync_channel(1);
        let started = self.start(async move {
            // Whoever no longer waits needs no answer.
            let _ = done.send(work.await);
        });
        if started { answer.recv_timeout(deadline + GRACE).ok() } else { None }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let runtime = self.runtime.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Waiting for what runs there is not allowed everywhere, and it would be in vain for a server that hangs.
        if let Some(runtime) = runtime {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_anywhere_and_not_for_ever() {
        let engine = Engine::default();
        assert_eq!(engine.wait(Duration::from_secs(5), async { 1 }), Some(1));
        let inside = Builder::new_current_thread().build().unwrap();
        inside.block_on(async { assert_eq!(engine.wait(Duration::from_secs(5), async { 2 }), Some(2)) });
        inside.block_on(async move { drop(engine) });
    }
}
