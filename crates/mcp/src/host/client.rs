//! Calls to a server, each with a timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prowess::remote::FetchError;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, CustomRequest, Implementation, ReadResourceRequest,
    ReadResourceRequestParams, ResourceContents, ResourceUpdatedNotificationParam, ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RunningService, ServiceError};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};

use super::entry::display_text;
use super::http::transport_error;
use super::process::ServerProcess;
use crate::extension;

/// A connection of the SDK.
pub(super) type ClientService = RunningService<RoleClient, ChangeHandler>;

/// Handles notifications of a server about changes. All other requests of the server are declined.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeHandler {
    changed: Arc<AtomicBool>,
}

impl ChangeHandler {
    /// Returns whether the server reported a change since the last call.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    /// Returns whether the server reported a change, without resetting it.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }
}

impl ClientHandler for ChangeHandler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("prowess", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }

    async fn on_resource_updated(
        &self,
        _: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.changed.store(true, Ordering::Relaxed);
    }
}

/// An initialized connection to a server.
#[derive(Debug)]
pub(super) struct ServerConnection {
    service: Option<ClientService>,
    /// The process, if it was started by the host. It ends after the connection.
    process: Option<ServerProcess>,
    timeout: Duration,
}

impl ServerConnection {
    pub(super) fn new(service: ClientService, started: Option<ServerProcess>, timeout: Duration) -> Self {
        Self { service: Some(service), process: started, timeout }
    }

    /// Returns `true` if the server has the skills extension. Other servers are not asked for skills.
    pub(super) fn offers_skills(&self) -> bool {
        let info = self.service.as_ref().and_then(|service| service.peer_info());
        info.and_then(|info| info.capabilities.extensions.clone())
            .is_some_and(|extensions| extensions.contains_key(extension::EXTENSION_ID))
    }

    /// Returns the negotiated version of the protocol.
    pub(super) fn protocol_version(&self) -> String {
        let info = self.service.as_ref().and_then(|service| service.peer_info());
        info.map(|info| info.protocol_version.to_string()).unwrap_or_default()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.service.as_ref().is_none_or(|service| service.is_closed() || service.is_transport_closed())
    }

    pub(super) async fn list_page(&self, cursor: Option<&str>) -> Result<Value, FetchError> {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        self.call_custom(extension::LIST_METHOD, params).await
    }

    /// Fetches the entry of a skill.
    pub(super) async fn get_entry(&self, uri: &str) -> Result<Value, FetchError> {
        let mut result = self.call_custom(extension::GET_METHOD, json!({"uri": uri})).await?;
        match result.get_mut("skill").map(Value::take) {
            Some(skill @ Value::Object(_)) if skill.get("uri").and_then(Value::as_str) == Some(uri) => {
                Ok(skill)
            }
            _ => Err(FetchError::Malformed("the result is not the entry of that skill".to_owned())),
        }
    }

    /// Fetches the contents of a file.
    pub(super) async fn read_resource(&self, uri: &str) -> Result<Vec<u8>, FetchError> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let response = self.call(ClientRequest::ReadResourceRequest(request)).await?;
        let ServerResult::ReadResourceResult(result) = response else {
            return Err(FetchError::Malformed("the result has no contents".to_owned()));
        };
        let mut contents = result.contents.into_iter();
        let (Some(content), None) = (contents.next(), contents.next()) else {
            return Err(FetchError::Malformed("the result does not have exactly one content".to_owned()));
        };
        match content {
            ResourceContents::TextResourceContents { uri: content_uri, text, .. } if content_uri == uri => {
                Ok(text.into_bytes())
            }
            ResourceContents::BlobResourceContents { uri: content_uri, blob, .. } if content_uri == uri => {
                STANDARD
                    .decode(blob.as_bytes())
                    .map_err(|_| FetchError::Malformed("the content is not valid base64".to_owned()))
            }
            _ => Err(FetchError::Malformed("the content has another URI".to_owned())),
        }
    }

    async fn call_custom(&self, method: &str, params: Value) -> Result<Value, FetchError> {
        let request = CustomRequest::new(method, Some(params));
        match self.call(ClientRequest::CustomRequest(request)).await? {
            ServerResult::CustomResult(result) => {
                match result.0.get("resultType").map(|kind| kind.as_str()) {
                    None | Some(Some("complete")) => Ok(result.0),
                    Some(_) => Err(FetchError::Malformed("the result is not complete".to_owned())),
                }
            }
            _ => Err(FetchError::Malformed("unexpected type of response".to_owned())),
        }
    }

    async fn call(&self, request: ClientRequest) -> Result<ServerResult, FetchError> {
        let Some(service) = &self.service else { return Err(closed_error()) };
        let options = PeerRequestOptions::with_timeout(self.timeout);
        let response = async {
            let request = service.send_request_with_option(request, options).await?;
            request.await_response().await
        };
        // The timeout also covers a server that does not read.
        match tokio::time::timeout(self.timeout + Duration::from_millis(200), response).await {
            Err(_) => Err(self.timeout_error()),
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(self.convert_error(&error)),
        }
    }

    fn timeout_error(&self) -> FetchError {
        FetchError::Timeout(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX))
    }

    fn convert_error(&self, error: &ServiceError) -> FetchError {
        match error {
            ServiceError::Timeout { .. } => self.timeout_error(),
            ServiceError::McpError(error) => FetchError::Refused(display_text(&error.message)),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => closed_error(),
            ServiceError::TransportSend(error) => transport_error(&*error.error),
            _ => FetchError::Malformed("unexpected type of response".to_owned()),
        }
    }

    /// Closes the connection, and gives the server a moment to exit.
    pub(super) async fn close(mut self) {
        if let Some(mut service) = self.service.take() {
            let _ = service.close_with_timeout(Duration::from_millis(300)).await;
        }
        drop(self.process.take());
    }
}

fn closed_error() -> FetchError {
    FetchError::Unreachable("the connection was closed".to_owned())
}
