//! The sessions of the SDK, with what it leaves out.
//!
//! The SDK forgets a call with its answer, whether or not anybody read it, and answers two requests of the same number on
//! one stream, so that the other never ends. Here, a client whose stream broke gets the rest when it comes back within a
//! minute, and a number that is in use is refused.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use super::calls::{Calls, RESUME};
use super::streams::{Events, Followed, Recorded, number_of};

/// How long a session may be silent. Agents wait for people, and people have lunch.
const SILENCE: Duration = Duration::from_secs(60 * 60);

/// The sessions that are there.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    calls: Arc<Calls>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut session = SessionConfig::default();
        session.keep_alive = Some(SILENCE);
        session.completed_cache_ttl = RESUME;
        let mut inner = LocalSessionManager::default();
        inner.session_config = session;
        Self { inner, calls: Arc::default() }
    }

    /// Ends sessions, the one that was idle the longest first, until there are fewer than `most`. Returns `false` if that
    /// is not possible because the others are being answered.
    pub(super) async fn make_room(&self, most: usize) -> bool {
        while self.inner.sessions.read().await.len() >= most {
            let Some(id) = self.calls.idle_longest() else { return false };
            // One that is gone already is closed.
            let _ = self.close_session(&id).await;
        }
        true
    }

    /// Ends all of them when it is time. The SDK leaves them to end by themselves, an hour later.
    pub(super) async fn close_when(sessions: Weak<Self>, stop: CancellationToken) {
        stop.cancelled().await;
        let Some(sessions) = sessions.upgrade() else { return };
        let ids: Vec<SessionId> = sessions.inner.sessions.read().await.keys().cloned().collect();
        for id in ids {
            // One that is gone already is closed.
            let _ = sessions.close_session(&id).await;
        }
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let created = self.inner.create_session().await?;
        self.calls.open(&created.0);
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        // The SDK asks this first for every request of a session.
        self.calls.touch(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.calls.close(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let Some(request) = &request
            && !self.calls.begin(id, request)
        {
            let error = "a request with this id is being answered; ids are used once";
            let error = ServerJsonRpcMessage::error(ErrorData::invalid_request(error, None), None);
            let refused = tokio_stream::once(ServerSseMessage::from_message(error));
            return Ok(Box::pin(refused) as Events);
        }
        let stream = self.inner.create_stream(id, message).await.inspect_err(|_| {
            if let Some(request) = &request {
                self.calls.end(id, request);
            }
        })?;
        Ok(Box::pin(Recorded::new(Box::pin(stream), Arc::clone(&self.calls), id.clone(), request)))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        if let Some(call) = number_of(&last).and_then(|number| self.calls.broken(id, number)) {
            return Ok(Box::pin(Followed::new(call, &last)) as Events);
        }
        // The old stream may not have been noticed to be broken. The SDK begins with the last event that was seen.
        let stream = self.inner.resume(id, last.clone()).await?;
        let stream = stream.filter(move |event| event.event_id.as_deref() != Some(last.as_str()));
        Ok(Box::pin(Recorded::new(Box::pin(stream), Arc::clone(&self.calls), id.clone(), None)))
    }
}
