//! Chats in PostgreSQL, shared by several servers.

mod connect;
mod connection;
mod errors;
mod notifier;
mod pool;
mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;

use connect::Connector;
use notifier::Notifier;
use pool::Pool;

use super::limits::new_id;
use super::notifications::{StoreNotice, Subscribers};
use super::sql::{BackgroundTasks, Durability, SqlDriver, SqlStore, TransactionBody, schema};
use super::{PostgresAddress, StoreError, StoreOptions};

/// A lock that allows only one process at a time to migrate tables.
const MIGRATION_LOCK: &str = "BEGIN; SET LOCAL lock_timeout = '120s'; SET LOCAL statement_timeout = '120s';
    SELECT pg_advisory_xact_lock(8247617384)";

/// Deletes owners that were silent for a day and have no turns.
const DELETE_OLD_OWNERS: &str = "DELETE FROM prowess_owners
    WHERE beat < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - 86400000
    AND id NOT IN (SELECT turn_owner FROM prowess_chats WHERE turn_owner IS NOT NULL)";

/// Uses the clock of the database, because the clocks of several machines differ.
const HEARTBEAT: &str = "INSERT INTO prowess_owners (id, beat)
    VALUES ($1, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
    ON CONFLICT (id) DO UPDATE SET beat = excluded.beat";

/// Connects, and creates or migrates the tables.
pub(crate) async fn open(
    database: &PostgresAddress,
    options: StoreOptions,
) -> Result<SqlStore<Postgres>, StoreError> {
    let connector = Connector::new(database, options.lease)?;
    let pool = Pool::new(connector.clone(), options.connections, options.call_timeout);
    let hub = Arc::new(Subscribers::default());
    migrate(&connector).await?;
    let mut tasks = BackgroundTasks::default();
    let (notifier, notifications) = Notifier::listen(connector, hub.clone()).await?;
    tasks.add(tokio::spawn(notifications));
    let driver = Arc::new(Postgres {
        pool,
        owner: new_id(),
        hub,
        notifier,
        location: database.to_string(),
        call_timeout: options.call_timeout,
        full: AtomicBool::new(false),
    });
    driver.heartbeat().await?;
    super::sql::sweep(&*driver).await?;
    tasks.spawn_maintenance(driver.clone(), options.lease / 3);
    Ok(SqlStore::new(driver, tasks))
}

async fn migrate(connector: &Connector) -> Result<(), StoreError> {
    let mut connection = connector.connect().await?;
    connection.check_utf8().await?;
    connection.batch(MIGRATION_LOCK).await?;
    // A user without the right to create tables may use existing ones.
    if !connection.has_tables().await? {
        connection.batch(schema::VERSION_TABLE).await?;
    }
    schema::migrate(&mut connection).await?;
    connection.batch(DELETE_OLD_OWNERS).await?;
    connection.batch("COMMIT").await
}

pub(crate) struct Postgres {
    pool: Pool,
    owner: String,
    hub: Arc<Subscribers>,
    notifier: Notifier,
    location: String,
    call_timeout: Duration,
    full: AtomicBool,
}

impl Postgres {
    async fn transact<T: Send + 'static>(
        &self,
        begin: &'static str,
        job: TransactionBody<T>,
    ) -> Result<T, StoreError> {
        let transaction = timeout(self.call_timeout, async {
            let mut pooled = self.pool.begin(begin).await?;
            // If this future is dropped, the connection is closed and the database rolls back.
            match job(pooled.connection()).await {
                Ok(value) => {
                    pooled.connection().batch("COMMIT").await?;
                    pooled.give_back();
                    Ok(value)
                }
                Err(error) => {
                    if pooled.connection().batch("ROLLBACK").await.is_ok() {
                        pooled.give_back();
                    }
                    Err(error)
                }
            }
        });
        transaction.await.unwrap_or_else(|_| {
            Err(StoreError::Busy(format!("no response for {} s", self.call_timeout.as_secs())))
        })
    }
}

impl SqlDriver for Postgres {
    /// Ignores the durability: the database may restart while writers continue, and a lost commit would leave a gap in
    /// their events.
    async fn write<T: Send + 'static>(
        &self,
        _: Durability,
        job: TransactionBody<T>,
    ) -> Result<T, StoreError> {
        let result = self.transact("BEGIN", job).await;
        self.full.store(matches!(result, Err(StoreError::Full)), Ordering::Relaxed);
        result
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    async fn read<T: Send + 'static>(&self, job: TransactionBody<T>) -> Result<T, StoreError> {
        self.transact("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", job).await
    }

    fn owner(&self) -> &str {
        &self.owner
    }

    async fn heartbeat(&self) -> Result<(), StoreError> {
        let owner = self.owner.clone();
        let heartbeat = super::sql::transaction(|tx| {
            Box::pin(async move { tx.execute(HEARTBEAT, super::sql::values![owner]).await.map(drop) })
        });
        self.transact("BEGIN", heartbeat).await
    }

    /// Nothing to do: the database reclaims deleted rows.
    async fn purge_deleted(&self) {}

    fn hub(&self) -> &Arc<Subscribers> {
        &self.hub
    }

    fn notify(&self, notice: StoreNotice) {
        self.notifier.notify(notice);
    }

    fn location(&self) -> String {
        self.location.clone()
    }
}
