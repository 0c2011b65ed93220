//! Creates connections, encrypted unless they are local.

use std::future::poll_fn;
use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

use super::super::StoreError;
use super::super::address::{PostgresAddress, TlsMode};
use super::connection::PgConnection;
use super::errors;
use super::tls::Tls;

/// The connection timeout, unless the address specifies one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of every connection: nothing waits forever on the server.
const SETTINGS: &str = "SET statement_timeout = '30s'; SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '60s'";

/// A notification and the process id of its sender.
pub(super) struct Notification {
    pub(super) from: i32,
    pub(super) text: String,
}

#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    /// `None` for unencrypted connections.
    tls: Option<Tls>,
    lease: Duration,
}

impl Connector {
    pub(super) fn new(database: &PostgresAddress, lease: Duration) -> Result<Self, StoreError> {
        // The parser's message may quote the address, including the password.
        let mut config: Config = database.url.parse().map_err(|_| {
            StoreError::Invalid(
                "cannot parse the database address; percent-encode special characters in the password, for example % as %25"
                    .into(),
            )
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(StoreError::Invalid("the database address has no host".into()));
        }
        if config.get_application_name().is_none() {
            config.application_name("prowess");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        // Detect a server that disappeared without closing the connection.
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
        let encrypted = match database.tls {
            TlsMode::Disabled => false,
            TlsMode::Verified => true,
            TlsMode::Default => !is_local(&config),
        };
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        let tls = if encrypted { Some(Tls::new(database.root_certs.as_deref())?) } else { None };
        Ok(Self { config, tls, lease })
    }

    pub(super) async fn connect(&self) -> Result<PgConnection, StoreError> {
        self.connect_and_listen().await.map(|(connection, _)| connection)
    }

    /// Creates a connection and its stream of notifications. The stream ends when the connection is dropped.
    pub(super) async fn connect_and_listen(
        &self,
    ) -> Result<(PgConnection, mpsc::UnboundedReceiver<Notification>), StoreError> {
        let limit = self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT) * 2;
        let connecting = timeout(limit, async {
            match &self.tls {
                Some(tls) => {
                    let (client, connection) = self.config.connect(tls.clone()).await?;
                    Ok((client, drive(connection)))
                }
                None => {
                    let (client, connection) = self.config.connect(NoTls).await?;
                    Ok((client, drive(connection)))
                }
            }
        });
        let (client, notifications): (Client, _) = connecting
            .await
            .map_err(|_| StoreError::Unreachable(format!("no connection within {} s", limit.as_secs())))?
            .map_err(|error| errors::to_store_error(&error))?;
        let connection = PgConnection::new(client, self.lease);
        connection.batch(SETTINGS).await?;
        Ok((connection, notifications))
    }
}

/// Returns `true` if no data leaves this machine.
fn is_local(config: &Config) -> bool {
    let local = |address: &IpAddr| address.is_loopback();
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(|host| match host {
            Host::Unix(_) => true,
            Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address| local(&address)),
        }),
        addresses => addresses.iter().all(local),
    }
}

/// Drives a connection in the background and returns its notifications.
fn drive<S, T>(mut connection: Connection<S, T>) -> mpsc::UnboundedReceiver<Notification>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                // Most connections do not listen, so the receiver may be gone.
                let notification =
                    Notification { from: notification.process_id(), text: notification.payload().to_owned() };
                let _ = sender.send(notification);
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreAddress;

    fn mode(text: &str) -> Result<SslMode, StoreError> {
        let StoreAddress::Database(database) = StoreAddress::parse(text)? else { panic!("{text}") };
        Connector::new(&database, Duration::ZERO).map(|connector| connector.config.get_ssl_mode())
    }

    #[test]
    fn remote_connections_are_encrypted() {
        for local in ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql", "127.0.0.1,localhost"] {
            assert_eq!(mode(&format!("postgresql://{local}/db")), Ok(SslMode::Disable), "{local}");
        }
        for remote in ["db.example", "10.0.0.1", "localhost,db.example", "localhost.db.example"] {
            assert_eq!(mode(&format!("postgresql://{remote}/db")), Ok(SslMode::Require), "{remote}");
            assert_eq!(
                mode(&format!("postgresql://{remote}/db?sslmode=prefer")),
                Ok(SslMode::Require),
                "{remote}"
            );
        }
        assert_eq!(mode("postgresql://db.example/db?sslmode=disable"), Ok(SslMode::Disable));
        assert_eq!(mode("postgresql://localhost/db?sslmode=verify-full"), Ok(SslMode::Require));
        assert_eq!(mode("postgresql://localhost/db?hostaddr=10.0.0.1"), Ok(SslMode::Require));
    }

    #[test]
    fn invalid_addresses() {
        let invalid = ["postgresql:///db", "postgresql://h/db?SECRET=1", "postgresql://h:port/db"];
        let errors: Vec<_> = invalid.iter().map(|text| mode(text).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
