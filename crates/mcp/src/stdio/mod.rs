//! Serves one client on standard input and output, with one message per line.
//!
//! | module | subject |
//! |---|---|
//! | `lines` | reads and writes lines |
//! | `pending` | the pending requests |
//!
//! The transport of the SDK ignores invalid lines. This one responds with an error, skips lines that are too long
//! without storing them, and limits the number of concurrent requests: it stops reading from a client that does not
//! read its responses.

mod lines;
mod pending;

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{
    NotificationContext, QuitReason, RequestContext, RoleServer, ServerInitializeError, Service,
};
use rmcp::{ErrorData, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Connection, McpServer};
use lines::LineTransport;
use pending::PendingRequests;

/// The reason why a session failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeStdioError {
    /// The handshake failed.
    #[error("the handshake of the client failed: {0}")]
    Handshake(#[source] Box<ServerInitializeError>),
    /// The session task failed.
    #[error("the session failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// Serves one client on standard input and output until it closes them, or until `stop` completes.
pub async fn serve(server: &McpServer, stop: impl Future<Output = ()>) -> Result<(), ServeStdioError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    serve_on(server, input, output, stop).await
}

/// Serves one client on two streams; see [`serve`].
pub async fn serve_on(
    server: &McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeStdioError> {
    let pending = Arc::<PendingRequests>::default();
    let service = CountingService { connection: server.connect(), pending: Arc::clone(&pending) };
    let serving = service.serve(LineTransport::new(input, output, pending));
    let mut stop = std::pin::pin!(stop);
    let running = tokio::select! {
        initialized = serving => match initialized {
            Ok(running) => running,
            // A client that closes the connection without a message is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeStdioError::Handshake(Box::new(error))),
        },
        () = &mut stop => return Ok(()),
    };
    let token = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    let _: QuitReason = tokio::select! {
        ended = &mut waiting => ended?,
        () = &mut stop => {
            token.cancel();
            waiting.await?
        }
    };
    Ok(())
}

/// A connection that counts requests while they are running.
struct CountingService {
    connection: Connection,
    pending: Arc<PendingRequests>,
}

impl Service<RoleServer> for CountingService {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let work = self.pending.start_work(&context.id);
        let result = self.connection.handle_request(request, context).await;
        work.complete();
        result
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.connection)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.connection)
    }
}
