//! Making connections, encrypted unless they stay on this machine.

use std::future::poll_fn;
use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

use super::super::StoreError;
use super::super::address::{Database, Wish};
use super::line::Line;
use super::tls::Tls;
use super::trouble;

/// How long a connection may take, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(10);

/// What every connection is told: nothing waits for ever on the other side.
const SETTINGS: &str = "SET statement_timeout = '30s'; SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '60s'";

/// What was said on a channel, and by which connection.
pub(super) struct Heard {
    pub(super) from: i32,
    pub(super) text: String,
}

#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    /// `None`: plain.
    tls: Option<Tls>,
    lease: Duration,
}

impl Connector {
    pub(super) fn new(database: &Database, lease: Duration) -> Result<Self, StoreError> {
        // The parser's own words may quote what it could not read, and that may be a password.
        let mut config: Config = database.url.parse().map_err(|_| {
            StoreError::Invalid(
                "the address of the database cannot be read; write % and its like in a password as %25"
                    .into(),
            )
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(StoreError::Invalid("the address of the database has no host".into()));
        }
        if config.get_application_name().is_none() {
            config.application_name("prowess");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        // A server that is gone without a word is noticed.
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
        let encrypted = match database.wish {
            Wish::Plain => false,
            Wish::Verified => true,
            Wish::Unsaid => !stays_here(&config),
        };
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        let tls = if encrypted { Some(Tls::new(database.roots.as_deref())?) } else { None };
        Ok(Self { config, tls, lease })
    }

    pub(super) async fn connect(&self) -> Result<Line, StoreError> {
        self.connect_and_listen().await.map(|(line, _)| line)
    }

    /// A connection, and what others say on it. It ends when the line is dropped.
    pub(super) async fn connect_and_listen(
        &self,
    ) -> Result<(Line, mpsc::UnboundedReceiver<Heard>), StoreError> {
        let bound = self.config.get_connect_timeout().copied().unwrap_or(CONNECT) * 2;
        let connected = timeout(bound, async {
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
        let (client, heard): (Client, _) = connected
            .await
            .map_err(|_| StoreError::Gone(format!("no connection within {} s", bound.as_secs())))?
            .map_err(|error| trouble::of(&error))?;
        let line = Line::new(client, self.lease);
        line.batch(SETTINGS).await?;
        Ok((line, heard))
    }
}

/// Whether nothing leaves this machine.
fn stays_here(config: &Config) -> bool {
    let local = |address: &IpAddr| address.is_loopback();
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(|host| match host {
            Host::Unix(_) => true,
            Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address| local(&address)),
        }),
        addresses => addresses.iter().all(local),
    }
}

/// A connection does nothing unless somebody looks after it.
fn drive<S, T>(mut connection: Connection<S, T>) -> mpsc::UnboundedReceiver<Heard>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (tell, heard) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                // Most connections listen to nothing, and nobody to them.
                let heard =
                    Heard { from: notification.process_id(), text: notification.payload().to_owned() };
                let _ = tell.send(heard);
            }
        }
    });
    heard
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Address;

    fn mode(text: &str) -> Result<SslMode, StoreError> {
        let Address::Database(database) = Address::parse(text)? else { panic!("{text}") };
        Connector::new(&database, Duration::ZERO).map(|connector| connector.config.get_ssl_mode())
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted() {
        for local in ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql", "127.0.0.1,localhost"] {
            assert_eq!(mode(&format!("postgresql://{local}/db")), Ok(SslMode::Disable), "{local}");
        }
        for far in ["db.example", "10.0.0.1", "localhost,db.example", "localhost.db.example"] {
            assert_eq!(mode(&format!("postgresql://{far}/db")), Ok(SslMode::Require), "{far}");
            assert_eq!(mode(&format!("postgresql://{far}/db?sslmode=prefer")), Ok(SslMode::Require), "{far}");
        }
        assert_eq!(mode("postgresql://db.example/db?sslmode=disable"), Ok(SslMode::Disable));
        assert_eq!(mode("postgresql://localhost/db?sslmode=verify-full"), Ok(SslMode::Require));
        assert_eq!(mode("postgresql://localhost/db?hostaddr=10.0.0.1"), Ok(SslMode::Require));
    }

    #[test]
    fn addresses_that_cannot_be_meant() {
        let wrong = ["postgresql:///db", "postgresql://h/db?SECRET=1", "postgresql://h:port/db"];
        let told: Vec<_> = wrong.iter().map(|text| mode(text).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
