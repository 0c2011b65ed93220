//! The store in SQL, written once for both databases. They differ in how a statement gets there (`sqlite`, `postgres`), in
//! how it is known whether a process lives, and in how processes tell each other.
//!
//! Every statement here is plain enough for both, takes its values as parameters `$1`, `$2`, … in the order of their numbers,
//! and has no value in its text.

mod chats;
mod events;
mod keeper;
mod messages;
pub(crate) mod schema;
mod store;
mod turns;
mod uses;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) use keeper::Tasks;
pub(crate) use store::{Sql, sweep};

use super::StoreError;
use super::hub::{Hub, Notice};

/// A value of a statement or a row: all that our tables hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Int(Option<i64>),
    Text(Option<String>),
}

impl From<u64> for Value {
    /// Whatever goes in was checked to be far below.
    fn from(value: u64) -> Self {
        Self::Int(Some(i64::try_from(value).unwrap_or(i64::MAX)))
    }
}

impl From<Option<u64>> for Value {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Int(None), Self::from)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Some(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        Self::Text(value)
    }
}

/// The values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::sql::Value::from($value)),*] };
}
pub(crate) use values;

/// One row of an answer, taken column by column.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) std::vec::IntoIter<Value>);

impl Row {
    /// The next column, a number.
    pub(crate) fn int(&mut self) -> Result<u64, StoreError> {
        self.maybe_int()?.ok_or_else(unexpected)
    }

    pub(crate) fn maybe_int(&mut self) -> Result<Option<u64>, StoreError> {
        match self.0.next() {
            Some(Value::Int(value)) => Ok(value.map(|value| u64::try_from(value).unwrap_or(0))),
            // A column of nothing but NULL has no kind in SQLite.
            Some(Value::Text(None)) => Ok(None),
            Some(Value::Text(Some(_))) | None => Err(unexpected()),
        }
    }

    /// The next column, a text.
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.maybe_text()?.ok_or_else(unexpected)
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.0.next() {
            Some(Value::Text(value)) => Ok(value),
            Some(Value::Int(None)) => Ok(None),
            Some(Value::Int(Some(_))) | None => Err(unexpected()),
        }
    }
}

fn unexpected() -> StoreError {
    StoreError::Internal("a row is not as expected".to_owned())
}

pub(crate) type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A transaction that is open.
pub(crate) trait Tx: Send {
    /// Runs a statement; its rows.
    fn query<'a>(&'a mut self, sql: &'static str, values: Vec<Value>) -> Later<'a, Vec<Row>>;

    /// Runs a statement; how many rows it changed.
    fn execute<'a>(&'a mut self, sql: &'static str, values: Vec<Value>) -> Later<'a, u64>;

    /// Whether the process of this owner is gone.
    fn is_gone<'a>(&'a mut self, owner: &'a str) -> Later<'a, bool>;
}

/// What is done in a transaction. It waits for nothing but the transaction.
pub(crate) type Work<T> = Box<dyn for<'a> FnOnce(&'a mut (dyn Tx + 'a)) -> Later<'a, T> + Send>;

/// How sure it has to be that what was written stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// Even if the machine stops.
    Machine,
    /// Even if the process is killed. Where the database is on this machine, whoever said it is gone with it, too.
    Process,
}

/// A database.
pub(crate) trait Driver: Send + Sync + 'static {
    /// Does it in a transaction that is kept as a whole or not at all.
    fn write<T: Send + 'static>(
        &self,
        care: Care,
        work: Work<T>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Does it in a transaction that sees one state of the database and changes nothing.
    fn read<T: Send + 'static>(&self, work: Work<T>) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Whether the last write failed for want of room.
    fn is_full(&self) -> bool;

    /// Whether a message of ordinary size can be written, as far as can be known without writing.
    fn has_room(&self) -> bool {
        true
    }

    /// This process, as turns name it.
    fn owner(&self) -> &str;

    /// Says that this process lives.
    fn beat(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// What follows a deletion, so that nothing of it is left where that can be done.
    fn wipe(&self) -> impl Future<Output = ()> + Send;

    /// Those who wait in this process.
    fn hub(&self) -> &Arc<Hub>;

    /// Tells the other processes.
    fn tell(&self, notice: Notice);

    /// Where it is, for people.
    fn place(&self) -> String;
}

/// What is to be done, with the types that a closure needs to be told.
pub(crate) fn work<T, F>(work: F) -> Work<T>
where
    F: for<'a> FnOnce(&'a mut (dyn Tx + 'a)) -> Later<'a, T> + Send + 'static,
{
    Box::new(work)
}

/// JSON that we wrote ourselves.
fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Internal(format!("what was kept cannot be read: {error}")))
}

fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))
}
