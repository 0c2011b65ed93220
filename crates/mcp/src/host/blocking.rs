//! Runs async calls for synchronous callers, which may themselves run inside another async runtime.

use std::future::Future;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// The additional time that a caller waits beyond the deadline of the call.
const GRACE: Duration = Duration::from_secs(2);

/// A runtime that is created on first use.
#[derive(Debug, Default)]
pub(super) struct BlockingRuntime {
    runtime: Mutex<Option<Runtime>>,
}

impl BlockingRuntime {
    /// Starts a future in the background. Returns `false` if the runtime cannot be created.
    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> bool {
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        if runtime.is_none() {
            *runtime = Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("prowess-mcp")
                .enable_all()
                .build()
                .ok();
        }
        runtime.as_ref().map(|runtime| runtime.spawn(future)).is_some()
    }

    /// Runs a future that has its own deadline, and waits for it; `None` if it does not complete.
    pub(super) fn block_on<T: Send + 'static>(
        &self,
        deadline: Duration,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, result) = mpsc::sync_channel(1);
        let started = self.spawn(async move {
            // If the caller no longer waits, the result is dropped.
            let _ = sender.send(future.await);
        });
        if started { result.recv_timeout(deadline + GRACE).ok() } else { None }
    }
}

impl Drop for BlockingRuntime {
    fn drop(&mut self) {
        let runtime = self.runtime.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Blocking is not allowed inside an async runtime, and a server may hang.
        if let Some(runtime) = runtime {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_inside_a_runtime_and_with_a_deadline() {
        let runtime = BlockingRuntime::default();
        assert_eq!(runtime.block_on(Duration::from_secs(5), async { 1 }), Some(1));
        let outer = Builder::new_current_thread().build().unwrap();
        outer.block_on(async { assert_eq!(runtime.block_on(Duration::from_secs(5), async { 2 }), Some(2)) });
        outer.block_on(async move { drop(runtime) });
    }
}
