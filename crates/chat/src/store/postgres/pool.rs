//! A few connections that are shared. What is borrowed and not given back is closed: a transaction that was left half-way is
//! never handed to somebody else.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::super::StoreError;
use super::connect::Connector;
use super::line::Line;

pub(super) struct Pool {
    connector: Connector,
    idle: Mutex<Vec<Line>>,
    permits: Semaphore,
    wait: Duration,
}

impl Pool {
    pub(super) fn new(connector: Connector, connections: usize, wait: Duration) -> Self {
        Self { connector, idle: Mutex::default(), permits: Semaphore::new(connections), wait }
    }

    /// Borrows a connection and begins a transaction on it.
    pub(super) async fn begin(&self, begin: &'static str) -> Result<Held<'_>, StoreError> {
        let permit = match timeout(self.wait, self.permits.acquire()).await {
            Ok(permit) => permit.map_err(|_| StoreError::Gone("it was closed".to_owned()))?,
            Err(_) => return Err(StoreError::Busy("all connections are in use".to_owned())),
        };
        // A connection that was idle may have died meanwhile. That shows at the first word, when nothing was done yet.
        while let Some(line) = self.idle() {
            if !line.is_closed() && line.batch(begin).await.is_ok() {
                return Ok(Held { pool: self, line, _permit: permit });
            }
        }
        let line = self.connector.connect().await?;
        line.batch(begin).await?;
        Ok(Held { pool: self, line, _permit: permit })
    }

    fn idle(&self) -> Option<Line> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// A connection with a transaction.
pub(super) struct Held<'a> {
    pool: &'a Pool,
    line: Line,
    _permit: SemaphorePermit<'a>,
}

impl Held<'_> {
    pub(super) fn line(&mut self) -> &mut Line {
        &mut self.line
    }

    /// The transaction is over.
    pub(super) fn give_back(self) {
        self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.line);
    }
}
