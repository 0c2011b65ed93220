//! Waits in short steps, so that nobody has to wait for a server to be heard.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

use crate::Work;

/// How long a cancelled request may go on.
const STEP: Duration = Duration::from_millis(100);

/// Puts a [`Watched`] around each connection.
#[derive(Debug)]
pub(super) struct Watch(pub(super) Arc<Work>);

/// A connection that ends when its work is cancelled.
#[derive(Debug)]
pub(super) struct Watched<In> {
    inner: In,
    work: Arc<Work>,
}

impl<In: Transport> Connector<In> for Watch {
    type Out = Watched<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| Watched { inner, work: Arc::clone(&self.0) }))
    }
}

impl<In: Transport> Transport for Watched<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.work.go_on().map_err(|cancelled| Error::Other(Box::new(cancelled)))?;
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let whole = timeout.for_read();
        let begin = Instant::now();
        loop {
            self.work.go_on().map_err(|cancelled| Error::Other(Box::new(cancelled)))?;
            let left = whole.after.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Err(Error::Timeout(whole.reason));
            }
            let step = NextTimeout { after: left.min(STEP).into(), per_read: None, ..whole };
            match self.inner.await_input(step) {
                Err(Error::Timeout(_)) => {}
                other => return other,
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
