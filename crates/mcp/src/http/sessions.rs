//! Extends the session manager of the SDK.
//!
//! The SDK drops a call with its response, even if the client did not read it, and answers two requests with the
//! same id on one stream, so that the other one never ends. Here, a client whose stream was interrupted can resume
//! it within a minute, and an id that is in use is rejected.

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

use super::calls::{CallRegistry, RESUME_WINDOW};
use super::streams::{EventStream, RecordingStream, ResumedStream, call_number};

/// How long a session may be idle. Agents wait for people, who take breaks.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The current sessions.
pub(super) struct ResumableSessions {
    inner: LocalSessionManager,
    calls: Arc<CallRegistry>,
}

impl ResumableSessions {
    pub(super) fn new() -> Self {
        let mut session = SessionConfig::default();
        session.keep_alive = Some(IDLE_TIMEOUT);
        session.completed_cache_ttl = RESUME_WINDOW;
        let mut inner = LocalSessionManager::default();
        inner.session_config = session;
        Self { inner, calls: Arc::default() }
    }

    /// Ends idle sessions, the one that was idle the longest first, until there are fewer than `limit`. Returns
    /// `false` if the remaining sessions have pending requests.
    pub(super) async fn make_room(&self, limit: usize) -> bool {
        while self.inner.sessions.read().await.len() >= limit {
            let Some(id) = self.calls.longest_idle_session() else { return false };
            // It may be closed already.
            let _ = self.close_session(&id).await;
        }
        true
    }

    /// Ends all sessions when `stop` is cancelled. The SDK would keep them until they time out.
    pub(super) async fn close_on_stop(sessions: Weak<Self>, stop: CancellationToken) {
        stop.cancelled().await;
        let Some(sessions) = sessions.upgrade() else { return };
        let ids: Vec<SessionId> = sessions.inner.sessions.read().await.keys().cloned().collect();
        for id in ids {
            // It may be closed already.
            let _ = sessions.close_session(&id).await;
        }
    }
}

impl SessionManager for ResumableSessions {
    type Error = LocalSessionManagerError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let created = self.inner.create_session().await?;
        self.calls.open_session(&created.0);
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
        // The SDK calls this first for every request of a session.
        self.calls.touch(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.calls.close_session(id);
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
            && !self.calls.begin_request(id, request)
        {
            let error = "a request with this id is pending; ids must be unique";
            let error = ServerJsonRpcMessage::error(ErrorData::invalid_request(error, None), None);
            let rejection = tokio_stream::once(ServerSseMessage::from_message(error));
            return Ok(Box::pin(rejection) as EventStream);
        }
        let stream = self.inner.create_stream(id, message).await.inspect_err(|_| {
            if let Some(request) = &request {
                self.calls.end_request(id, request);
            }
        })?;
        Ok(Box::pin(RecordingStream::new(Box::pin(stream), Arc::clone(&self.calls), id.clone(), request)))
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
        if let Some(call) = call_number(&last).and_then(|number| self.calls.interrupted_call(id, number)) {
            return Ok(Box::pin(ResumedStream::new(call, &last)) as EventStream);
        }
        // The interruption may not have been noticed yet. The SDK starts with the last event that was received.
        let stream = self.inner.resume(id, last.clone()).await?;
        let stream = stream.filter(move |event| event.event_id.as_deref() != Some(last.as_str()));
        Ok(Box::pin(RecordingStream::new(Box::pin(stream), Arc::clone(&self.calls), id.clone(), None)))
    }
}
