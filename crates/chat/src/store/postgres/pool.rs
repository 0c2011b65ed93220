//! A pool of connections. A borrowed connection that is not returned is closed, so an unfinished transaction is never
//! passed on.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::super::StoreError;
use super::connect::Connector;
use super::connection::PgConnection;

pub(super) struct Pool {
    connector: Connector,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
    wait: Duration,
}

impl Pool {
    pub(super) fn new(connector: Connector, connections: usize, wait: Duration) -> Self {
        Self { connector, idle: Mutex::default(), permits: Semaphore::new(connections), wait }
    }

    /// Borrows a connection and begins a transaction.
    pub(super) async fn begin(&self, begin: &'static str) -> Result<PooledConnection<'_>, StoreError> {
        let permit = match timeout(self.wait, self.permits.acquire()).await {
            Ok(permit) => permit.map_err(|_| StoreError::Unreachable("the pool was closed".to_owned()))?,
            Err(_) => return Err(StoreError::Busy("all connections are in use".to_owned())),
        };
        // An idle connection may be dead. That shows at the first statement, before anything was done.
        while let Some(connection) = self.take_idle() {
            if !connection.is_closed() && connection.batch(begin).await.is_ok() {
                return Ok(PooledConnection { pool: self, connection, _permit: permit });
            }
        }
        let connection = self.connector.connect().await?;
        connection.batch(begin).await?;
        Ok(PooledConnection { pool: self, connection, _permit: permit })
    }

    fn take_idle(&self) -> Option<PgConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// A borrowed connection with an open transaction.
pub(super) struct PooledConnection<'a> {
    pool: &'a Pool,
    connection: PgConnection,
    _permit: SemaphorePermit<'a>,
}

impl PooledConnection<'_> {
    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Returns the connection after the transaction.
    pub(super) fn give_back(self) {
        self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.connection);
    }
}
