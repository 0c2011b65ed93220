//! One connection.

use std::collections::HashMap;
use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Statement};

use super::super::StoreError;
use super::super::sql::{Later, Row, Tx, Value, values};
use super::trouble;

/// A process is gone when it was silent for longer than its lease; but a database that came back only now has heard of nobody.
const IS_GONE: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT 1
    WHERE NOT EXISTS (SELECT 1 FROM prowess_owners
        WHERE id = $1 AND beat > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $2)
    AND EXTRACT(EPOCH FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 > CAST($3 AS BIGINT)) AS gone";

pub(super) struct Line {
    client: Client,
    /// Every statement is understood once.
    statements: HashMap<&'static str, Statement>,
    lease: Duration,
}

impl Line {
    pub(super) fn new(client: Client, lease: Duration) -> Self {
        Self { client, statements: HashMap::new(), lease }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.client.batch_execute(sql).await.map_err(|error| trouble::of(&error))
    }

    /// Tells other processes.
    pub(super) async fn notify(&mut self, payloads: Vec<String>) -> Result<(), StoreError> {
        let statement =
            self.statement("SELECT pg_notify('prowess', told) FROM unnest($1::text[]) AS told").await?;
        self.client.execute(&statement, &[&payloads]).await.map(drop).map_err(|error| trouble::of(&error))
    }

    /// Its number on the other side.
    pub(super) async fn number(&self) -> Result<i32, StoreError> {
        let row = self.client.query_one("SELECT pg_backend_pid()", &[]).await;
        row.and_then(|row| row.try_get(0)).map_err(|error| trouble::of(&error))
    }

    /// Other encodings cannot hold everything that people write.
    pub(super) async fn is_utf8(&self) -> Result<(), StoreError> {
        let row =
            self.client.query_one("SHOW server_encoding", &[]).await.map_err(|error| trouble::of(&error))?;
        match row.try_get::<_, String>(0) {
            Ok(encoding) if encoding == "UTF8" => Ok(()),
            Ok(_) | Err(_) => Err(StoreError::Refused(
                "the database is not one of UTF-8; create it with ENCODING 'UTF8'".to_owned(),
            )),
        }
    }

    pub(super) async fn has_tables(&self) -> Result<bool, StoreError> {
        let rows = self.client.query("SELECT 1 WHERE to_regclass('prowess_schema') IS NOT NULL", &[]).await;
        rows.map(|rows| !rows.is_empty()).map_err(|error| trouble::of(&error))
    }

    async fn statement(&mut self, sql: &'static str) -> Result<Statement, StoreError> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(|error| trouble::of(&error))?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    async fn rows(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let statement = self.statement(sql).await?;
        let rows =
            self.client.query(&statement, &cells(&values)).await.map_err(|error| trouble::of(&error))?;
        rows.iter().map(row).collect()
    }

    async fn change(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, StoreError> {
        let statement = self.statement(sql).await?;
        self.client.execute(&statement, &cells(&values)).await.map_err(|error| trouble::of(&error))
    }
}

impl Tx for Line {
    fn query<'a>(&'a mut self, sql: &'static str, values: Vec<Value>) -> Later<'a, Vec<Row>> {
        Box::pin(self.rows(sql, values))
    }

    fn execute<'a>(&'a mut self, sql: &'static str, values: Vec<Value>) -> Later<'a, u64> {
        Box::pin(self.change(sql, values))
    }

    fn is_gone<'a>(&'a mut self, owner: &'a str) -> Later<'a, bool> {
        let lease = u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX);
        Box::pin(async move {
            let rows = self.rows(IS_GONE, values![owner, lease, lease]).await?;
            rows.into_iter().next().map_or(Ok(true), |mut row| Ok(row.int()? > 0))
        })
    }
}

fn cells(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| match value {
            Value::Int(number) => number as &(dyn ToSql + Sync),
            Value::Text(text) => text as &(dyn ToSql + Sync),
        })
        .collect()
}

fn row(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let mut values = Vec::with_capacity(row.len());
    for (index, column) in row.columns().iter().enumerate() {
        let value = match *column.type_() {
            Type::INT8 => row.try_get(index).map(Value::Int),
            _ => row.try_get(index).map(Value::Text),
        };
        values.push(value.map_err(|error| trouble::of(&error))?);
    }
    Ok(Row(values.into_iter()))
}
