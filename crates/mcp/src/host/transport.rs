//! Connects to a configured server and negotiates the protocol.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use prowess::HostEnv;
use prowess::remote::FetchError;
use prowess_config::{McpSource, McpTransport};
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::MESSAGE_MAX;
use super::client::{ChangeHandler, ClientService, ServerConnection};
use super::entry::display_text;
use super::http::{BoundedHttpClient, transport_error};
use super::process::ServerProcess;
use crate::extension;

/// A configured server and the environment for connecting to it.
#[derive(Debug, Clone)]
pub(super) struct ServerEndpoint {
    pub(super) source: McpSource,
    pub(super) host: HostEnv,
    pub(super) environment: Arc<[(OsString, OsString)]>,
}

impl ServerEndpoint {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.source.timeout_ms))
    }

    /// Connects with the current handshake, and falls back to the older one.
    pub(super) async fn connect(&self, handler: &ChangeHandler) -> Result<ServerConnection, FetchError> {
        let auto_mode = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let connection = match self.try_connect(handler, auto_mode).await {
            Err(FetchError::Timeout(_) | FetchError::Refused(_) | FetchError::Malformed(_)) => {
                self.try_connect(handler, ClientLifecycleMode::Initialize).await?
            }
            other => other?,
        };
        match connection.offers_skills() {
            true => Ok(connection),
            false => Err(FetchError::Refused(format!(
                "it does not support the extension {}",
                extension::EXTENSION_ID
            ))),
        }
    }

    async fn try_connect(
        &self,
        handler: &ChangeHandler,
        mode: ClientLifecycleMode,
    ) -> Result<ServerConnection, FetchError> {
        let (service, process) = match &self.source.transport {
            McpTransport::Command { program, args, env } => {
                let spawned = ServerProcess::spawn(program, args, env, &self.host, &self.environment);
                let (process, stdout, stdin) =
                    spawned.map_err(|error| FetchError::Unreachable(format!("cannot start it: {error}")))?;
                let transport = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(MESSAGE_MAX);
                let service =
                    self.with_timeout(serve_client_with_lifecycle(handler.clone(), transport, mode)).await;
                // The last line of standard error explains more than the closed connection.
                let service = service.map_err(|error| match (error, process.stderr.last_line()) {
                    (FetchError::Unreachable(reason), Some(line)) => {
                        FetchError::Unreachable(format!("{reason}; its last error output: {line}"))
                    }
                    (error, _) => error,
                })?;
                (service, Some(process))
            }
            McpTransport::Url { url, token_env } => {
                let client = BoundedHttpClient::new(url.to_ascii_lowercase().starts_with("http://"))
                    .map_err(|error| FetchError::Unreachable(display_text(&error.to_string())))?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.auth_header = token_env.as_deref().map(|name| self.token(name)).transpose()?;
                config.max_sse_event_size = MESSAGE_MAX;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let service = serve_client_with_lifecycle(handler.clone(), transport, mode);
                (self.with_timeout(service).await?, None)
            }
        };
        Ok(ServerConnection::new(service, process, self.timeout()))
    }

    fn token(&self, name: &str) -> Result<String, FetchError> {
        let value = self.environment.iter().find(|(variable, _)| variable == name).map(|(_, value)| value);
        let value = value.and_then(|value| value.to_str()).map(str::trim).filter(|value| !value.is_empty());
        value.map(str::to_owned).ok_or_else(|| {
            FetchError::Unreachable(format!("the environment variable {name} with its token is not set"))
        })
    }

    async fn with_timeout(
        &self,
        service: impl Future<Output = Result<ClientService, ClientInitializeError>>,
    ) -> Result<ClientService, FetchError> {
        match tokio::time::timeout(self.timeout(), service).await {
            Err(_) => Err(FetchError::Timeout(u64::from(self.source.timeout_ms))),
            Ok(Ok(service)) => Ok(service),
            Ok(Err(error)) => Err(convert_error(&error)),
        }
    }
}

/// Converts an error of the handshake. The result contains no data of the server.
fn convert_error(error: &ClientInitializeError) -> FetchError {
    match error {
        ClientInitializeError::ConnectionClosed(_) => exited_error(),
        // The server may exit before the first request.
        ClientInitializeError::TransportError { error, .. } if is_closed(&*error.error) => exited_error(),
        ClientInitializeError::TransportError { error, .. } => transport_error(&*error.error),
        ClientInitializeError::JsonRpcError(error) => FetchError::Refused(display_text(&error.message)),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            FetchError::Refused("it supports no common version of the protocol".to_owned())
        }
        _ => FetchError::Malformed("its handshake violates the protocol".to_owned()),
    }
}

fn exited_error() -> FetchError {
    FetchError::Unreachable("it closed the connection without a response".to_owned())
}

fn is_closed(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
