//! The store in SQL for both databases. They differ in how statements are run (`sqlite`, `postgres`), in how exited
//! processes are detected, and in how processes notify each other.
//!
//! Every statement works in both, unless it depends on the dialect (search), takes its values as parameters `$1`, `$2`, … in numeric order, and contains no value
//! in its text.

mod branches;
mod chats;
mod events;
mod files;
mod messages;
mod questions;
pub(crate) mod schema;
mod search;
mod skill_uses;
mod store;
mod tasks;
mod turns;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) use store::{SqlStore, sweep};
pub(crate) use tasks::BackgroundTasks;

use super::StoreError;
use super::notifications::{StoreNotice, Subscribers};

/// A value of a statement or a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SqlValue {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl From<u64> for SqlValue {
    /// Saturates; all values are checked to be far below the limit.
    fn from(value: u64) -> Self {
        Self::Int(Some(i64::try_from(value).unwrap_or(i64::MAX)))
    }
}

impl From<Option<u64>> for SqlValue {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Int(None), Self::from)
    }
}

impl From<String> for SqlValue {
    fn from(value: String) -> Self {
        Self::Text(Some(value))
    }
}

impl From<&str> for SqlValue {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<Vec<u8>> for SqlValue {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(value))
    }
}

impl From<Option<String>> for SqlValue {
    fn from(value: Option<String>) -> Self {
        Self::Text(value)
    }
}

/// Builds the values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::sql::SqlValue::from($value)),*] };
}
pub(crate) use values;

/// A row of a result, read column by column.
#[derive(Debug)]
pub(crate) struct SqlRow(pub(crate) std::vec::IntoIter<SqlValue>);

impl SqlRow {
    /// Reads the next column as a number.
    pub(crate) fn int(&mut self) -> Result<u64, StoreError> {
        self.maybe_int()?.ok_or_else(unexpected)
    }

    pub(crate) fn maybe_int(&mut self) -> Result<Option<u64>, StoreError> {
        match self.0.next() {
            Some(SqlValue::Int(value)) => Ok(value.map(|value| u64::try_from(value).unwrap_or(0))),
            // SQLite has no type for a NULL value.
            Some(SqlValue::Text(None)) => Ok(None),
            Some(SqlValue::Text(Some(_)) | SqlValue::Bytes(_)) | None => Err(unexpected()),
        }
    }

    /// Reads the next column as text.
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.maybe_text()?.ok_or_else(unexpected)
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.0.next() {
            Some(SqlValue::Text(value)) => Ok(value),
            Some(SqlValue::Int(None)) => Ok(None),
            Some(SqlValue::Int(Some(_)) | SqlValue::Bytes(_)) | None => Err(unexpected()),
        }
    }

    /// Reads the next column as bytes.
    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        match self.0.next() {
            Some(SqlValue::Bytes(Some(bytes))) => Ok(bytes),
            Some(SqlValue::Int(_) | SqlValue::Text(_) | SqlValue::Bytes(None)) | None => Err(unexpected()),
        }
    }
}

fn unexpected() -> StoreError {
    StoreError::Internal("a row has unexpected columns".to_owned())
}

pub(crate) type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The dialect of a database, for what has no common form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlDialect {
    Sqlite,
    Postgres,
}

/// An open transaction.
pub(crate) trait SqlTransaction: Send {
    /// Runs a statement and returns its rows.
    fn query<'a>(&'a mut self, sql: &'static str, values: Vec<SqlValue>) -> StoreFuture<'a, Vec<SqlRow>>;

    /// Runs a statement and returns the number of changed rows.
    fn execute<'a>(&'a mut self, sql: &'static str, values: Vec<SqlValue>) -> StoreFuture<'a, u64>;

    /// Returns the dialect of the database.
    fn dialect(&self) -> SqlDialect;

    /// Returns `true` if the process of this owner has exited.
    fn is_gone<'a>(&'a mut self, owner: &'a str) -> StoreFuture<'a, bool>;
}

/// The body of a transaction. It must not await anything but the transaction.
pub(crate) type TransactionBody<T> =
    Box<dyn for<'a> FnOnce(&'a mut (dyn SqlTransaction + 'a)) -> StoreFuture<'a, T> + Send>;

/// What a write must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A crash of the machine.
    MachineCrash,
    /// A crash of the process. If the database is on this machine, a crash of the machine also ends the writer.
    ProcessCrash,
}

/// A database driver.
pub(crate) trait SqlDriver: Send + Sync + 'static {
    /// Runs a transaction that writes.
    fn write<T: Send + 'static>(
        &self,
        durability: Durability,
        body: TransactionBody<T>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Runs a read-only transaction on a consistent snapshot.
    fn read<T: Send + 'static>(
        &self,
        body: TransactionBody<T>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Returns `true` if the last write failed because the disk was full.
    fn is_full(&self) -> bool;

    /// Returns `true` if there is room for a message of ordinary size, as far as is known without writing.
    fn has_room(&self) -> bool {
        true
    }

    /// Returns the id of this process in turns.
    fn owner(&self) -> &str;

    /// Records that this process is alive.
    fn heartbeat(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes traces of deleted data where possible.
    fn purge_deleted(&self) -> impl Future<Output = ()> + Send;

    /// Returns the subscribers of this process.
    fn hub(&self) -> &Arc<Subscribers>;

    /// Notifies other processes.
    fn notify(&self, notice: StoreNotice);

    /// Returns the location for display.
    fn location(&self) -> String;
}

/// Boxes a transaction body. The bounds help type inference for closures.
pub(crate) fn transaction<T, F>(body: F) -> TransactionBody<T>
where
    F: for<'a> FnOnce(&'a mut (dyn SqlTransaction + 'a)) -> StoreFuture<'a, T> + Send + 'static,
{
    Box::new(body)
}

/// Parses JSON that this store wrote.
fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Internal(format!("cannot parse stored data: {error}")))
}

fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))
}
