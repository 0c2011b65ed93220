//! Chats in PostgreSQL, for several servers: whichever of them is asked, it knows the same.

mod bell;
mod connect;
mod line;
mod pool;
mod tls;
mod trouble;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;

use bell::Bell;
use connect::Connector;
use pool::Pool;

use super::hub::{Hub, Notice};
use super::limits::new_id;
use super::sql::{Care, Driver, Sql, Tasks, Work, schema};
use super::{Database, Options, StoreError};

/// Only one process at a time changes tables: it holds this lock.
const LOCK: &str = "BEGIN; SET LOCAL lock_timeout = '120s'; SET LOCAL statement_timeout = '120s';
    SELECT pg_advisory_xact_lock(8247617384)";

/// Owners that were not heard of for a day, and whose turns were ended.
const FORGET: &str = "DELETE FROM prowess_owners
    WHERE beat < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - 86400000
    AND id NOT IN (SELECT turn_owner FROM prowess_chats WHERE turn_owner IS NOT NULL)";

/// The database's clock, not ours: those of several machines differ.
const BEAT: &str = "INSERT INTO prowess_owners (id, beat)
    VALUES ($1, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
    ON CONFLICT (id) DO UPDATE SET beat = excluded.beat";

/// Connects, and makes or updates the tables.
pub(crate) async fn open(database: &Database, options: Options) -> Result<Sql<Postgres>, StoreError> {
    let connector = Connector::new(database, options.lease)?;
    let pool = Pool::new(connector.clone(), options.connections, options.call);
    let hub = Arc::new(Hub::default());
    migrate(&connector).await?;
    let mut tasks = Tasks::default();
    let (bell, ringing) = Bell::hang(connector, hub.clone()).await?;
    tasks.add(tokio::spawn(ringing));
    let driver = Arc::new(Postgres {
        pool,
        owner: new_id(),
        hub,
        bell,
        place: database.to_string(),
        call: options.call,
        full: AtomicBool::new(false),
    });
    driver.beat().await?;
    super::sql::sweep(&*driver).await?;
    tasks.keep(driver.clone(), options.lease / 3);
    Ok(Sql::new(driver, tasks))
}

async fn migrate(connector: &Connector) -> Result<(), StoreError> {
    let mut line = connector.connect().await?;
    line.is_utf8().await?;
    line.batch(LOCK).await?;
    // Who may only use the tables is not asked for the right to make them.
    if !line.has_tables().await? {
        line.batch(schema::TABLE).await?;
    }
    schema::migrate(&mut line).await?;
    line.batch(FORGET).await?;
    line.batch("COMMIT").await
}

pub(crate) struct Postgres {
    pool: Pool,
    owner: String,
    hub: Arc<Hub>,
    bell: Bell,
    place: String,
    call: Duration,
    full: AtomicBool,
}

impl Postgres {
    async fn transact<T: Send + 'static>(&self, begin: &'static str, work: Work<T>) -> Result<T, StoreError> {
        let bounded = timeout(self.call, async {
            let mut held = self.pool.begin(begin).await?;
            // Whoever is dropped here takes the connection along, and the database undoes what was begun.
            match work(held.line()).await {
                Ok(done) => {
                    held.line().batch("COMMIT").await?;
                    held.give_back();
                    Ok(done)
                }
                Err(error) => {
                    if held.line().batch("ROLLBACK").await.is_ok() {
                        held.give_back();
                    }
                    Err(error)
                }
            }
        });
        bounded
            .await
            .unwrap_or_else(|_| Err(StoreError::Busy(format!("no answer for {} s", self.call.as_secs()))))
    }
}

impl Driver for Postgres {
    /// Always as sure as the database is set up to be. It may stop while those who write go on: what it forgot then would be
    /// missing in the middle of what they say.
    async fn write<T: Send + 'static>(&self, _: Care, work: Work<T>) -> Result<T, StoreError> {
        let written = self.transact("BEGIN", work).await;
        self.full.store(matches!(written, Err(StoreError::Full)), Ordering::Relaxed);
        written
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    async fn read<T: Send + 'static>(&self, work: Work<T>) -> Result<T, StoreError> {
        self.transact("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work).await
    }

    fn owner(&self) -> &str {
        &self.owner
    }

    async fn beat(&self) -> Result<(), StoreError> {
        let owner = self.owner.clone();
        let beat = super::sql::work(|tx| {
            Box::pin(async move { tx.execute(BEAT, super::sql::values![owner]).await.map(drop) })
        });
        self.transact("BEGIN", beat).await
    }

    /// The database cleans up behind itself.
    async fn wipe(&self) {}

    fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    fn tell(&self, notice: Notice) {
        self.bell.ring(notice);
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}
