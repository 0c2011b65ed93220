//! A connection to PostgreSQL.

use std::collections::HashMap;
use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Statement};

use super::super::StoreError;
use super::super::sql::{SqlDialect, SqlRow, SqlTransaction, SqlValue, StoreFuture, values};
use super::errors;

/// A process is gone if it sent no heartbeat for longer than its lease. A database that has just started has received none
/// yet.
const IS_GONE: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT 1
    WHERE NOT EXISTS (SELECT 1 FROM prowess_owners
        WHERE id = $1 AND beat > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $2)
    AND EXTRACT(EPOCH FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 > CAST($3 AS BIGINT)) AS gone";

pub(super) struct PgConnection {
    client: Client,
    /// Prepared statements by their SQL.
    statements: HashMap<&'static str, Statement>,
    lease: Duration,
}

impl PgConnection {
    pub(super) fn new(client: Client, lease: Duration) -> Self {
        Self { client, statements: HashMap::new(), lease }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without parameters.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.client.batch_execute(sql).await.map_err(|error| errors::to_store_error(&error))
    }

    /// Sends notifications to other processes.
    pub(super) async fn notify(&mut self, payloads: Vec<String>) -> Result<(), StoreError> {
        let statement =
            self.statement("SELECT pg_notify('prowess', payload) FROM unnest($1::text[]) AS payload").await?;
        self.client
            .execute(&statement, &[&payloads])
            .await
            .map(drop)
            .map_err(|error| errors::to_store_error(&error))
    }

    /// Returns the process id of this connection in the database.
    pub(super) async fn backend_pid(&self) -> Result<i32, StoreError> {
        let row = self.client.query_one("SELECT pg_backend_pid()", &[]).await;
        row.and_then(|row| row.try_get(0)).map_err(|error| errors::to_store_error(&error))
    }

    /// Checks the encoding: others than UTF-8 cannot store all text.
    pub(super) async fn check_utf8(&self) -> Result<(), StoreError> {
        let row = self
            .client
            .query_one("SHOW server_encoding", &[])
            .await
            .map_err(|error| errors::to_store_error(&error))?;
        match row.try_get::<_, String>(0) {
            Ok(encoding) if encoding == "UTF8" => Ok(()),
            Ok(_) | Err(_) => Err(StoreError::Refused(
                "the database encoding is not UTF-8; create the database with ENCODING 'UTF8'".to_owned(),
            )),
        }
    }

    pub(super) async fn has_tables(&self) -> Result<bool, StoreError> {
        let rows = self.client.query("SELECT 1 WHERE to_regclass('prowess_schema') IS NOT NULL", &[]).await;
        rows.map(|rows| !rows.is_empty()).map_err(|error| errors::to_store_error(&error))
    }

    async fn statement(&mut self, sql: &'static str) -> Result<Statement, StoreError> {
        if let Some(prepared) = self.statements.get(sql) {
            return Ok(prepared.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(|error| errors::to_store_error(&error))?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    async fn query_rows(
        &mut self,
        sql: &'static str,
        values: Vec<SqlValue>,
    ) -> Result<Vec<SqlRow>, StoreError> {
        let statement = self.statement(sql).await?;
        let rows = self
            .client
            .query(&statement, &to_params(&values))
            .await
            .map_err(|error| errors::to_store_error(&error))?;
        rows.iter().map(to_row).collect()
    }

    async fn execute_statement(
        &mut self,
        sql: &'static str,
        values: Vec<SqlValue>,
    ) -> Result<u64, StoreError> {
        let statement = self.statement(sql).await?;
        self.client
            .execute(&statement, &to_params(&values))
            .await
            .map_err(|error| errors::to_store_error(&error))
    }
}

impl SqlTransaction for PgConnection {
    fn query<'a>(&'a mut self, sql: &'static str, values: Vec<SqlValue>) -> StoreFuture<'a, Vec<SqlRow>> {
        Box::pin(self.query_rows(sql, values))
    }

    fn execute<'a>(&'a mut self, sql: &'static str, values: Vec<SqlValue>) -> StoreFuture<'a, u64> {
        Box::pin(self.execute_statement(sql, values))
    }

    fn dialect(&self) -> SqlDialect {
        SqlDialect::Postgres
    }

    fn is_gone<'a>(&'a mut self, owner: &'a str) -> StoreFuture<'a, bool> {
        let lease = u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX);
        Box::pin(async move {
            let rows = self.query_rows(IS_GONE, values![owner, lease, lease]).await?;
            rows.into_iter().next().map_or(Ok(false), |mut row| Ok(row.int()? > 0))
        })
    }
}

fn to_params(values: &[SqlValue]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| match value {
            SqlValue::Int(number) => number as &(dyn ToSql + Sync),
            SqlValue::Text(text) => text as &(dyn ToSql + Sync),
            SqlValue::Bytes(bytes) => bytes as &(dyn ToSql + Sync),
        })
        .collect()
}

fn to_row(row: &tokio_postgres::Row) -> Result<SqlRow, StoreError> {
    let mut values = Vec::with_capacity(row.len());
    for (index, column) in row.columns().iter().enumerate() {
        let value = match *column.type_() {
            Type::INT8 => row.try_get(index).map(SqlValue::Int),
            Type::BYTEA => row.try_get(index).map(SqlValue::Bytes),
            _ => row.try_get(index).map(SqlValue::Text),
        };
        values.push(value.map_err(|error| errors::to_store_error(&error))?);
    }
    Ok(SqlRow(values.into_iter()))
}
