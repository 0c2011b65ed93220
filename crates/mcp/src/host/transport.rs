//! From a configuration to a connection that has agreed on a protocol.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use prowess::Surroundings;
use prowess::supply::SupplyError;
use prowess_config::{McpSource, Reach};
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::MESSAGE_MAX;
use super::client::{Connection, Handler, Service};
use super::entry::shown;
use super::http::Bounded;
use super::started::Started;
use crate::extension;

/// Where a server is looked for.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) source: McpSource,
    pub(super) world: Surroundings,
    pub(super) environment: Arc<[(OsString, OsString)]>,
}

impl Place {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.source.timeout_ms))
    }

    /// Connects. First in the present way; a server that does not take that is asked in the older one.
    pub(super) async fn connect(&self, handler: &Handler) -> Result<Connection, SupplyError> {
        let auto = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let connection = match self.attempt(handler, auto).await {
            Err(SupplyError::Timeout(_) | SupplyError::Refused(_) | SupplyError::Malformed(_)) => {
                self.attempt(handler, ClientLifecycleMode::Initialize).await?
            }
            other => other?,
        };
        match connection.offers_skills() {
            true => Ok(connection),
            false => Err(SupplyError::Refused(format!("it does not have the extension {}", extension::ID))),
        }
    }

    async fn attempt(&self, handler: &Handler, mode: ClientLifecycleMode) -> Result<Connection, SupplyError> {
        let (service, started) = match &self.source.reach {
            Reach::Command { program, args, env } => {
                let started = Started::new(program, args, env, &self.world, &self.environment);
                let (started, stdout, stdin) = started
                    .map_err(|error| SupplyError::Unreachable(format!("it cannot be started: {error}")))?;
                let transport = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(MESSAGE_MAX);
                let service =
                    self.within(serve_client_with_lifecycle(handler.clone(), transport, mode)).await;
                // What it said last tells more than that it is gone.
                let service = service.map_err(|error| match (error, started.words.line()) {
                    (SupplyError::Unreachable(why), Some(words)) => {
                        SupplyError::Unreachable(format!("{why}; it says: {words}"))
                    }
                    (error, _) => error,
                })?;
                (service, Some(started))
            }
            Reach::Url { url, token_env } => {
                let client = Bounded::new(url.to_ascii_lowercase().starts_with("http://"))
                    .map_err(|error| SupplyError::Unreachable(shown(&error.to_string())))?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.auth_header = token_env.as_deref().map(|name| self.token(name)).transpose()?;
                config.max_sse_event_size = MESSAGE_MAX;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let service = serve_client_with_lifecycle(handler.clone(), transport, mode);
                (self.within(service).await?, None)
            }
        };
        Ok(Connection::new(service, started, self.timeout()))
    }

    fn token(&self, name: &str) -> Result<String, SupplyError> {
        let value = self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let value = value.and_then(|value| value.to_str()).map(str::trim).filter(|value| !value.is_empty());
        value
            .map(str::to_owned)
            .ok_or_else(|| SupplyError::Unreachable(format!("the variable {name} with its token is not set")))
    }

    async fn within(
        &self,
        service: impl Future<Output = Result<Service, ClientInitializeError>>,
    ) -> Result<Service, SupplyError> {
        match tokio::time::timeout(self.timeout(), service).await {
            Err(_) => Err(SupplyError::Timeout(u64::from(self.source.timeout_ms))),
            Ok(Ok(service)) => Ok(service),
            Ok(Err(error)) => Err(told(&error)),
        }
    }
}

/// Why there is no connection, without whatever the server sent.
fn told(error: &ClientInitializeError) -> SupplyError {
    match error {
        ClientInitializeError::ConnectionClosed(_) => has_ended(),
        // It may end before it is asked.
        ClientInitializeError::TransportError { error, .. } if is_closed(&*error.error) => has_ended(),
        ClientInitializeError::TransportError { error, .. } => {
            SupplyError::Unreachable(shown(&error.error.to_string()))
        }
        ClientInitializeError::JsonRpcError(error) => SupplyError::Refused(shown(&error.message)),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            SupplyError::Refused("it speaks no version of the protocol that is known here".to_owned())
        }
        _ => SupplyError::Malformed("it begins with something else than the protocol says".to_owned()),
    }
}

fn has_ended() -> SupplyError {
    SupplyError::Unreachable("it ends before it answers".to_owned())
}

fn is_closed(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
