//! One connection to the file.

use std::path::{Path, PathBuf};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{CachedStatement, Connection, params_from_iter};

use super::super::StoreError;
use super::super::sql::{Care, Later, Row, Tx, Value, Work};
use super::{owner, trouble};

/// How large the log may stay once it is written back.
const LOG_MAX: &str = "67108864";

pub(super) struct Line {
    connection: Connection,
    path: PathBuf,
    busy: Duration,
    care: Option<Care>,
}

impl Line {
    pub(super) fn open(path: &Path, busy: Duration) -> Result<Self, StoreError> {
        let failed = |error| trouble::of(path, busy, error);
        let connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(busy).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, path: path.to_owned(), busy, care: None })
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        trouble::of(&self.path, self.busy, error)
    }

    /// A file with tables that are not ours is left as it is.
    pub(super) fn is_ours(&self) -> Result<(), StoreError> {
        let sql = "SELECT COUNT(*), COALESCE(SUM(name = 'prowess_schema'), 0) FROM sqlite_master WHERE type = 'table'";
        let count = self.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (tables, ours): (i64, i64) = count.map_err(|error| self.failed(error))?;
        match tables > 0 && ours == 0 {
            true => Err(StoreError::Foreign(trouble::place(&self.path))),
            false => Ok(()),
        }
    }

    pub(super) fn prepare_to_write(&mut self) -> Result<(), StoreError> {
        // With a log beside the file, those who read never wait for the one who writes. What is deleted is overwritten.
        self.set(&[
            ("journal_mode", "WAL"),
            ("foreign_keys", "ON"),
            ("secure_delete", "ON"),
            ("journal_size_limit", LOG_MAX),
        ])
    }

    pub(super) fn prepare_to_read(&mut self) -> Result<(), StoreError> {
        self.set(&[("query_only", "ON")])
    }

    fn set(&self, pragmas: &[(&str, &str)]) -> Result<(), StoreError> {
        for (name, value) in pragmas {
            self.connection
                .execute_batch(&format!("PRAGMA {name} = {value}"))
                .map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Whether the disk is waited for.
    pub(super) fn care(&mut self, care: Care) -> Result<(), StoreError> {
        if self.care != Some(care) {
            let value = match care {
                Care::Machine => "FULL",
                Care::Process => "NORMAL",
            };
            self.set(&[("synchronous", value)])?;
            self.care = Some(care);
        }
        Ok(())
    }

    pub(super) fn empty_the_log(&mut self) -> Result<(), StoreError> {
        self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(|error| self.failed(error))
    }

    /// Does it as a whole or not at all.
    pub(super) fn transact<T>(&mut self, begin: &str, work: Work<T>) -> Result<T, StoreError> {
        self.connection.execute_batch(begin).map_err(|error| self.failed(error))?;
        let done = at_once(work(self)).and_then(|done| {
            self.connection.execute_batch("COMMIT").map_err(|error| self.failed(error))?;
            Ok(done)
        });
        // Some failures have ended the transaction already.
        if done.is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.prepare(sql)?;
        let columns = statement.column_count();
        let mut found =
            statement.query(params_from_iter(cells(values))).map_err(|error| self.failed(error))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(|error| self.failed(error))? {
            let mut values = Vec::with_capacity(columns);
            for column in 0..columns {
                values.push(value(row.get_ref(column).map_err(|error| self.failed(error))?)?);
            }
            rows.push(Row(values.into_iter()));
        }
        Ok(rows)
    }

    fn change(&self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        let mut statement = self.prepare(sql)?;
        let changed =
            statement.execute(params_from_iter(cells(values))).map_err(|error| self.failed(error))?;
        Ok(changed as u64)
    }

    /// Here, `$1` is a name and counts by where it first stands; that has to be the same as its number.
    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        let statement = self.connection.prepare_cached(sql).map_err(|error| self.failed(error))?;
        let in_order = (1..=statement.parameter_count()).all(|number| {
            statement.parameter_name(number).is_some_and(|name| name[1..] == number.to_string())
        });
        match in_order {
            true => Ok(statement),
            false => Err(StoreError::Internal("the parameters of a statement are out of order".to_owned())),
        }
    }
}

impl Tx for Line {
    fn query<'a>(&'a mut self, sql: &'static str, values: Vec<Value>) -> Later<'a, Vec<Row>> {
        Box::pin(std::future::ready(self.rows(sql, values)))
    }

    fn execute<'a>(&'a mut self, sql: &'static str, values: Vec<Value>) -> Later<'a, u64> {
        Box::pin(std::future::ready(self.change(sql, values)))
    }

    fn is_gone<'a>(&'a mut self, owner: &'a str) -> Later<'a, bool> {
        let gone = owner::is_gone(&self.path, owner).map_err(|error| trouble::of_io(&self.path, &error));
        Box::pin(std::future::ready(gone))
    }
}

/// What waits for nothing is done at once.
fn at_once<T>(mut later: Later<'_, T>) -> Result<T, StoreError> {
    match later.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => Err(StoreError::Internal("a transaction waited for something else".to_owned())),
    }
}

fn cells(values: Vec<Value>) -> impl Iterator<Item = Cell> {
    values.into_iter().map(|value| match value {
        Value::Int(Some(number)) => Cell::Integer(number),
        Value::Text(Some(text)) => Cell::Text(text),
        Value::Int(None) | Value::Text(None) => Cell::Null,
    })
}

fn value(cell: ValueRef<'_>) -> Result<Value, StoreError> {
    match cell {
        ValueRef::Null => Ok(Value::Text(None)),
        ValueRef::Integer(number) => Ok(Value::Int(Some(number))),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::Text(Some(text.to_owned()))),
            Err(_) => Err(StoreError::Internal("a text in the store is not UTF-8".to_owned())),
        },
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            Err(StoreError::Internal("a value in the store is of another kind".to_owned()))
        }
    }
}
