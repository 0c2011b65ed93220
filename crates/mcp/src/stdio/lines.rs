//! Reads and writes lines.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex as AsyncMutex;

use super::pending::PendingRequests;
use crate::malformed;

/// The maximum length of a line in bytes.
const LINE_MAX: usize = 4 * 1024 * 1024;

/// How long closing waits for a pending write.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A transport with one message per line.
pub(super) struct LineTransport<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of the current line is skipped.
    is_too_long: bool,
    output: Arc<AsyncMutex<W>>,
    pending: Arc<PendingRequests>,
    /// Whether the client has sent a request.
    has_request: bool,
}

/// The result of reading a line.
enum LineRead {
    Complete,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    pub(super) fn new(input: R, output: W, pending: Arc<PendingRequests>) -> Self {
        Self {
            input: BufReader::with_capacity(64 * 1024, input),
            line: Vec::new(),
            is_too_long: false,
            output: Arc::new(AsyncMutex::new(output)),
            pending,
            has_request: false,
        }
    }

    /// Reads to the end of a line. Can be cancelled and called again: the partial line is kept.
    async fn read_line(&mut self) -> std::io::Result<LineRead> {
        loop {
            let bytes = self.input.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(if self.line.is_empty() { LineRead::End } else { LineRead::Complete });
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(bytes, |end| &bytes[..end]);
            self.is_too_long |= self.line.len() + part.len() > LINE_MAX;
            match self.is_too_long {
                true => self.line.clear(),
                false => self.line.extend_from_slice(part),
            }
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                return Ok(if std::mem::take(&mut self.is_too_long) {
                    LineRead::TooLong
                } else {
                    LineRead::Complete
                });
            }
        }
    }

    /// Sends an error response to an invalid line. Runs in its own task, because receiving can be cancelled at any
    /// time, and a partial line must not be written.
    fn reject(&self, id: Option<RequestId>, error: &ErrorData) {
        let mut bytes = malformed::error_response(id, error).into_bytes();
        bytes.push(b'\n');
        let (output, pending) = (Arc::clone(&self.output), Arc::clone(&self.pending));
        pending.begin_rejection();
        tokio::spawn(async move {
            if write_all(&mut *output.lock().await, &bytes).await.is_err() {
                pending.close();
            }
            pending.finish_rejection();
        });
    }

    /// Registers a message. Returns `true` if it is passed on.
    fn accepts(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                self.has_request = true;
                // A subscription request gets its response only at the end, so it does not count.
                let is_subscription = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                let is_accepted = is_subscription || self.pending.begin(&request.id);
                if !is_accepted {
                    let message = "a request with this id is pending; ids must be unique";
                    // The response has no id: the client would assign it to the other request.
                    self.reject(None, &ErrorData::new(ErrorCode::INVALID_REQUEST, message, None));
                }
                is_accepted
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending.cancel(id);
                }
                self.has_request
            }
            // The SDK ends a session that does not start with a request.
            _ => self.has_request,
        }
    }

    /// Parses the line. Returns `None` for an empty line and for an invalid notification.
    fn parse_line(&mut self) -> Result<Option<ClientJsonRpcMessage>, (Option<RequestId>, ErrorData)> {
        let line = self.line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.line).trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice(line) {
            Ok(message) => Ok(Some(message)),
            Err(_) if malformed::is_notification(line) => Ok(None),
            Err(_) => Err(malformed::describe_error(line)),
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (output, pending) = (Arc::clone(&self.output), Arc::clone(&self.pending));
        async move {
            let answered_id = match &item {
                ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
                ServerJsonRpcMessage::Error(error) => error.id.clone(),
                _ => None,
            };
            let mut output = output.lock().await;
            // Serialized only now, so that waiting responses are not in memory twice.
            let mut bytes = serde_json::to_vec(&item)?;
            bytes.push(b'\n');
            let result = write_all(&mut *output, &bytes).await;
            if result.is_err() {
                pending.close();
            }
            if let Some(id) = answered_id {
                pending.finish(&id);
            }
            result
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if !self.pending.wait_for_capacity().await {
                return None;
            }
            match self.read_line().await {
                Ok(LineRead::Complete) => {}
                Ok(LineRead::TooLong) => {
                    let message = format!("a line can have at most {LINE_MAX} bytes");
                    self.reject(None, &ErrorData::new(ErrorCode::INVALID_REQUEST, message, None));
                    continue;
                }
                Ok(LineRead::End) | Err(_) => return None,
            }
            let message = self.parse_line();
            self.line.clear();
            match message {
                Ok(Some(message)) => {
                    if self.accepts(&message) {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err((id, error)) => self.reject(id, &error),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A client that does not read can block the writer forever.
        match tokio::time::timeout(CLOSE_TIMEOUT, self.output.lock()).await {
            Ok(mut output) => output.shutdown().await,
            Err(_) => Ok(()),
        }
    }
}

async fn write_all(output: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    output.write_all(bytes).await?;
    output.flush().await
}
