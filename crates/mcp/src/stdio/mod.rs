//! One client on standard input and output: a message a line.
//!
//! | module | subject |
//! |---|---|
//! | `lines` | lines in, lines out |
//! | `answering` | the requests that are being answered |
//!
//! The SDK's own transport passes over what it cannot read. Here the client is told, a line that is too long is dropped
//! without being kept, and no more requests are taken than are being answered: a client that never reads its answers
//! stops being read itself.

mod answering;
mod lines;

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{
    NotificationContext, QuitReason, RequestContext, RoleServer, ServerInitializeError, Service,
};
use rmcp::{ErrorData, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Connection, Server};
use answering::Answering;
use lines::Lines;

/// What ended a conversation too early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The client did not begin as the protocol has it.
    #[error("the client did not begin as the protocol has it: {0}")]
    Beginning(#[source] Box<ServerInitializeError>),
    /// The conversation broke off.
    #[error("the conversation broke off: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

/// Serves one client on standard input and output until it closes them, or until `stop` is there.
pub async fn serve(server: &Server, stop: impl Future<Output = ()>) -> Result<(), StdioError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    serve_on(server, input, output, stop).await
}

/// The same on any two streams.
pub async fn serve_on(
    server: &Server,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> Result<(), StdioError> {
    let answering = Arc::<Answering>::default();
    let counted = Counted { connection: server.connection(), answering: Arc::clone(&answering) };
    let serving = counted.serve(Lines::new(input, output, answering));
    let mut stop = std::pin::pin!(stop);
    let running = tokio::select! {
        begun = serving => match begun {
            Ok(running) => running,
            // Nobody said anything: that is no failure.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(StdioError::Beginning(Box::new(error))),
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

/// A connection whose requests are counted while they are worked on.
struct Counted {
    connection: Connection,
    answering: Arc<Answering>,
}

impl Service<RoleServer> for Counted {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let working = self.answering.work(&context.id);
        let result = self.connection.handle_request(request, context).await;
        working.done();
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
