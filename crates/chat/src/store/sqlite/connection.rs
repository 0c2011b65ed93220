//! A connection to a SQLite file.

use std::path::{Path, PathBuf};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{CachedStatement, Connection, params_from_iter};

use super::super::StoreError;
use super::super::sql::{
    Durability, SqlDialect, SqlRow, SqlTransaction, SqlValue, StoreFuture, TransactionBody,
};
use super::{errors, owner};

/// The size to which the log is truncated after a checkpoint.
const LOG_MAX: &str = "67108864";

/// How long to wait before a locked file is tried again.
const BUSY_RETRY: Duration = Duration::from_millis(10);

pub(super) struct SqliteConnection {
    connection: Connection,
    path: PathBuf,
    busy_timeout: Duration,
    durability: Option<Durability>,
}

impl SqliteConnection {
    pub(super) fn open(path: &Path, busy_timeout: Duration) -> Result<Self, StoreError> {
        let to_error = |error| errors::to_store_error(path, busy_timeout, error);
        let connection = Connection::open(path).map_err(to_error)?;
        connection.busy_timeout(busy_timeout).map_err(to_error)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, path: path.to_owned(), busy_timeout, durability: None })
    }

    fn to_store_error(&self, error: rusqlite::Error) -> StoreError {
        errors::to_store_error(&self.path, self.busy_timeout, error)
    }

    /// Checks that the file is empty or a store.
    pub(super) fn check_is_store(&self) -> Result<(), StoreError> {
        let sql = "SELECT COUNT(*), COALESCE(SUM(name = 'prowess_schema'), 0) FROM sqlite_master WHERE type = 'table'";
        let counts = self.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (tables, own_tables): (i64, i64) = counts.map_err(|error| self.to_store_error(error))?;
        match tables > 0 && own_tables == 0 {
            true => Err(StoreError::NotAStore(errors::display_path(&self.path))),
            false => Ok(()),
        }
    }

    pub(super) fn prepare_to_write(&mut self) -> Result<(), StoreError> {
        // With a write-ahead log, readers never wait for the writer. While another process creates the log, SQLite fails at
        // once instead of waiting.
        let deadline = Instant::now() + self.busy_timeout;
        loop {
            match self.set_pragmas(&[("journal_mode", "WAL")]) {
                Err(StoreError::Busy(_)) if Instant::now() < deadline => thread::sleep(BUSY_RETRY),
                result => break result?,
            }
        }
        // With `secure_delete`, deleted data is overwritten.
        self.set_pragmas(&[("foreign_keys", "ON"), ("secure_delete", "ON"), ("journal_size_limit", LOG_MAX)])
    }

    pub(super) fn prepare_to_read(&mut self) -> Result<(), StoreError> {
        self.set_pragmas(&[("query_only", "ON")])
    }

    fn set_pragmas(&self, pragmas: &[(&str, &str)]) -> Result<(), StoreError> {
        for (name, value) in pragmas {
            self.connection
                .execute_batch(&format!("PRAGMA {name} = {value}"))
                .map_err(|error| self.to_store_error(error))?;
        }
        Ok(())
    }

    /// Sets the durability of the next transactions.
    pub(super) fn set_durability(&mut self, durability: Durability) -> Result<(), StoreError> {
        if self.durability != Some(durability) {
            let value = match durability {
                Durability::MachineCrash => "FULL",
                Durability::ProcessCrash => "NORMAL",
            };
            self.set_pragmas(&[("synchronous", value)])?;
            self.durability = Some(durability);
        }
        Ok(())
    }

    pub(super) fn truncate_log(&mut self) -> Result<(), StoreError> {
        self.connection
            .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
            .map_err(|error| self.to_store_error(error))
    }

    /// Runs a transaction: all of it or nothing.
    pub(super) fn transact<T>(&mut self, begin: &str, body: TransactionBody<T>) -> Result<T, StoreError> {
        self.connection.execute_batch(begin).map_err(|error| self.to_store_error(error))?;
        let result = poll_ready(body(self)).and_then(|value| {
            self.connection.execute_batch("COMMIT").map_err(|error| self.to_store_error(error))?;
            Ok(value)
        });
        // Some errors have already ended the transaction.
        if result.is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        result
    }

    fn query_rows(&self, sql: &str, values: Vec<SqlValue>) -> Result<Vec<SqlRow>, StoreError> {
        let mut statement = self.prepare(sql)?;
        let columns = statement.column_count();
        let mut cursor = statement
            .query(params_from_iter(to_params(values)))
            .map_err(|error| self.to_store_error(error))?;
        let mut rows = Vec::new();
        while let Some(row) = cursor.next().map_err(|error| self.to_store_error(error))? {
            let mut values = Vec::with_capacity(columns);
            for column in 0..columns {
                values.push(to_value(row.get_ref(column).map_err(|error| self.to_store_error(error))?)?);
            }
            rows.push(SqlRow(values.into_iter()));
        }
        Ok(rows)
    }

    fn execute_statement(&self, sql: &str, values: Vec<SqlValue>) -> Result<u64, StoreError> {
        let mut statement = self.prepare(sql)?;
        let changed = statement
            .execute(params_from_iter(to_params(values)))
            .map_err(|error| self.to_store_error(error))?;
        Ok(changed as u64)
    }

    /// Prepares a statement. SQLite numbers `$1`, `$2` by first appearance, so they must appear in order.
    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        let statement = self.connection.prepare_cached(sql).map_err(|error| self.to_store_error(error))?;
        let in_order = (1..=statement.parameter_count()).all(|number| {
            statement.parameter_name(number).is_some_and(|name| name[1..] == number.to_string())
        });
        match in_order {
            true => Ok(statement),
            false => Err(StoreError::Internal("the parameters of a statement are not in order".to_owned())),
        }
    }
}

impl SqlTransaction for SqliteConnection {
    fn query<'a>(&'a mut self, sql: &'static str, values: Vec<SqlValue>) -> StoreFuture<'a, Vec<SqlRow>> {
        Box::pin(std::future::ready(self.query_rows(sql, values)))
    }

    fn execute<'a>(&'a mut self, sql: &'static str, values: Vec<SqlValue>) -> StoreFuture<'a, u64> {
        Box::pin(std::future::ready(self.execute_statement(sql, values)))
    }

    fn dialect(&self) -> SqlDialect {
        SqlDialect::Sqlite
    }

    fn is_gone<'a>(&'a mut self, owner: &'a str) -> StoreFuture<'a, bool> {
        let gone =
            owner::is_gone(&self.path, owner).map_err(|error| errors::from_io_error(&self.path, &error));
        Box::pin(std::future::ready(gone))
    }
}

/// Returns the result of a future that never waits.
fn poll_ready<T>(mut future: StoreFuture<'_, T>) -> Result<T, StoreError> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(StoreError::Internal("a transaction awaited something else".to_owned())),
    }
}

fn to_params(values: Vec<SqlValue>) -> impl Iterator<Item = Cell> {
    values.into_iter().map(|value| match value {
        SqlValue::Int(Some(number)) => Cell::Integer(number),
        SqlValue::Text(Some(text)) => Cell::Text(text),
        SqlValue::Bytes(Some(bytes)) => Cell::Blob(bytes),
        SqlValue::Int(None) | SqlValue::Text(None) | SqlValue::Bytes(None) => Cell::Null,
    })
}

fn to_value(cell: ValueRef<'_>) -> Result<SqlValue, StoreError> {
    match cell {
        ValueRef::Null => Ok(SqlValue::Text(None)),
        ValueRef::Integer(number) => Ok(SqlValue::Int(Some(number))),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(SqlValue::Text(Some(text.to_owned()))),
            Err(_) => Err(StoreError::Internal("a text in the store is not UTF-8".to_owned())),
        },
        ValueRef::Blob(bytes) => Ok(SqlValue::Bytes(Some(bytes.to_vec()))),
        ValueRef::Real(_) => {
            Err(StoreError::Internal("a value in the store has an unexpected type".to_owned()))
        }
    }
}
