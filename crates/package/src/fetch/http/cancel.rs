//! Waits in short steps, so that a request can be cancelled.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

use crate::Task;

/// The interval at which cancellation is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Wraps each connection in a [`CancellableTransport`].
#[derive(Debug)]
pub(super) struct CancellableConnector(pub(super) Arc<Task>);

/// A connection that ends when its task is cancelled.
#[derive(Debug)]
pub(super) struct CancellableTransport<In> {
    inner: In,
    task: Arc<Task>,
}

impl<In: Transport> Connector<In> for CancellableConnector {
    type Out = CancellableTransport<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| CancellableTransport { inner, task: Arc::clone(&self.0) }))
    }
}

impl<In: Transport> Transport for CancellableTransport<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.task.check_cancelled().map_err(|cancelled| Error::Other(Box::new(cancelled)))?;
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let total = timeout.for_read();
        let started = Instant::now();
        loop {
            self.task.check_cancelled().map_err(|cancelled| Error::Other(Box::new(cancelled)))?;
            let remaining = total.after.saturating_sub(started.elapsed());
            if remaining.is_zero() {
                return Err(Error::Timeout(total.reason));
            }
            let step = NextTimeout { after: remaining.min(POLL_INTERVAL).into(), per_read: None, ..total };
            match self.inner.await_input(step) {
                Err(Error::Timeout(_)) => {}
                result => return result,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
