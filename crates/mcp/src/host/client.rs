//! The calls that are made to a server, each with a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prowess::supply::SupplyError;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, CustomRequest, Implementation, ReadResourceRequest,
    ReadResourceRequestParams, ResourceContents, ResourceUpdatedNotificationParam, ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RunningService, ServiceError};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};

use super::entry::shown;
use super::started::Started;
use crate::extension;

/// A connection as the SDK has it.
pub(super) type Service = RunningService<RoleClient, Handler>;

/// What a server may tell by itself: that something has changed. Everything else that it asks for is declined.
#[derive(Debug, Clone, Default)]
pub(super) struct Handler {
    changed: Arc<AtomicBool>,
}

impl Handler {
    /// Whether the server said that something has changed since this was last asked.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    /// Whether it did.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }
}

impl ClientHandler for Handler {
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

/// A server that has agreed on a protocol.
#[derive(Debug)]
pub(super) struct Connection {
    service: Option<Service>,
    /// The process, where it was started here. It ends after the connection has.
    started: Option<Started>,
    timeout: Duration,
}

impl Connection {
    pub(super) fn new(service: Service, started: Option<Started>, timeout: Duration) -> Self {
        Self { service: Some(service), started, timeout }
    }

    /// Whether the server says that it has skills. Nothing else is asked of one that does not.
    pub(super) fn offers_skills(&self) -> bool {
        let info = self.service.as_ref().and_then(|service| service.peer_info());
        info.and_then(|info| info.capabilities.extensions.clone())
            .is_some_and(|extensions| extensions.contains_key(extension::ID))
    }

    /// The version of the protocol that was agreed on.
    pub(super) fn protocol(&self) -> String {
        let info = self.service.as_ref().and_then(|service| service.peer_info());
        info.map(|info| info.protocol_version.to_string()).unwrap_or_default()
    }

    /// Whether there is nobody at the other end.
    pub(super) fn is_closed(&self) -> bool {
        self.service.as_ref().is_none_or(|service| service.is_closed() || service.is_transport_closed())
    }

    /// One page of the listing.
    pub(super) async fn list(&self, cursor: Option<&str>) -> Result<Value, SupplyError> {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        self.custom(extension::LIST, params).await
    }

    /// The entry of one skill.
    pub(super) async fn get(&self, uri: &str) -> Result<Value, SupplyError> {
        let mut answer = self.custom(extension::GET, json!({"uri": uri})).await?;
        match answer.get_mut("skill").map(Value::take) {
            Some(skill @ Value::Object(_)) if skill.get("uri").and_then(Value::as_str) == Some(uri) => {
                Ok(skill)
            }
            _ => Err(SupplyError::Malformed("it is no entry of that skill".to_owned())),
        }
    }

    /// The bytes of a file.
    pub(super) async fn read(&self, uri: &str) -> Result<Vec<u8>, SupplyError> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let answer = self.call(ClientRequest::ReadResourceRequest(request)).await?;
        let ServerResult::ReadResourceResult(result) = answer else {
            return Err(SupplyError::Malformed("it is no content".to_owned()));
        };
        let mut contents = result.contents.into_iter();
        let (Some(content), None) = (contents.next(), contents.next()) else {
            return Err(SupplyError::Malformed("it is not one content".to_owned()));
        };
        match content {
            ResourceContents::TextResourceContents { uri: of, text, .. } if of == uri => {
                Ok(text.into_bytes())
            }
            ResourceContents::BlobResourceContents { uri: of, blob, .. } if of == uri => STANDARD
                .decode(blob.as_bytes())
                .map_err(|_| SupplyError::Malformed("the content is not valid base64".to_owned())),
            _ => Err(SupplyError::Malformed("it is the content of something else".to_owned())),
        }
    }

    async fn custom(&self, method: &str, params: Value) -> Result<Value, SupplyError> {
        let request = CustomRequest::new(method, Some(params));
        match self.call(ClientRequest::CustomRequest(request)).await? {
            ServerResult::CustomResult(result) => {
                match result.0.get("resultType").map(|kind| kind.as_str()) {
                    None | Some(Some("complete")) => Ok(result.0),
                    Some(_) => Err(SupplyError::Malformed("it is not complete".to_owned())),
                }
            }
            _ => Err(SupplyError::Malformed("it is an answer to something else".to_owned())),
        }
    }

    async fn call(&self, request: ClientRequest) -> Result<ServerResult, SupplyError> {
        let Some(service) = &self.service else { return Err(gone()) };
        let options = PeerRequestOptions::with_timeout(self.timeout);
        let answer = async {
            let request = service.send_request_with_option(request, options).await?;
            request.await_response().await
        };
        // A server that does not read takes as long as one that does not answer.
        match tokio::time::timeout(self.timeout + Duration::from_millis(200), answer).await {
            Err(_) => Err(self.late()),
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(self.told(&error)),
        }
    }

    fn late(&self) -> SupplyError {
        SupplyError::Timeout(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX))
    }

    fn told(&self, error: &ServiceError) -> SupplyError {
        match error {
            ServiceError::Timeout { .. } => self.late(),
            ServiceError::McpError(error) => SupplyError::Refused(shown(&error.message)),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => gone(),
            ServiceError::TransportSend(error) => SupplyError::Unreachable(shown(&error.error.to_string())),
            _ => SupplyError::Malformed("it is an answer to something else".to_owned()),
        }
    }

    /// Ends it, and waits a moment for the server to end by itself.
    pub(super) async fn close(mut self) {
        if let Some(mut service) = self.service.take() {
            let _ = service.close_with_timeout(Duration::from_millis(300)).await;
        }
        drop(self.started.take());
    }
}

fn gone() -> SupplyError {
    SupplyError::Unreachable("it has gone away".to_owned())
}
