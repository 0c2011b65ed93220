//! Cancels the scripts and tools of a call.

use prowess_tools::Session;
use tokio_util::sync::CancellationToken;

/// Cancels a call if the client cancels it or disconnects.
pub(super) struct CancellationGuard(tokio::task::JoinHandle<()>);

impl CancellationGuard {
    pub(super) fn new(
        session: &mut Session,
        cancelled: &CancellationToken,
        closed: &CancellationToken,
    ) -> Self {
        let call = prowess_sandbox::Cancel::default();
        session.call_options.cancel = Some(call.clone());
        let (cancelled, closed) = (cancelled.clone(), closed.clone());
        Self(tokio::spawn(async move {
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = closed.cancelled() => {}
            }
            call.cancel();
        }))
    }
}

impl Drop for CancellationGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}
