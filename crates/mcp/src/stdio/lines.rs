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
    /// The last line, if it waits for capacity. Receiving can be cancelled, which must not lose it.
    received: Option<Result<ClientJsonRpcMessage, InvalidLine>>,
}

/// The id of an invalid line, if it has one, and the error to respond with.
type InvalidLine = (Option<RequestId>, ErrorData);

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
            received: None,
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
    fn register(&mut self, message: &ClientJsonRpcMessage) -> bool {
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
    fn parse_line(&mut self) -> Result<Option<ClientJsonRpcMessage>, InvalidLine> {
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
            if self.received.is_none() {
                self.received = match self.read_line().await {
                    Ok(LineRead::Complete) => {
                        let parsed = self.parse_line();
                        self.line.clear();
                        parsed.transpose()
                    }
                    Ok(LineRead::TooLong) => {
                        let message = format!("a line can have at most {LINE_MAX} bytes");
                        Some(Err((None, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))))
                    }
                    Ok(LineRead::End) | Err(_) => return None,
                };
            }
            // Only messages with a response count, so a client can cancel requests when the limit is reached.
            let is_answered = matches!(self.received, Some(Err(_) | Ok(JsonRpcMessage::Request(_))));
            if is_answered && !self.pending.wait_for_capacity().await {
                return None;
            }
            match self.received.take() {
                Some(Ok(message)) if self.register(&message) => return Some(message),
                Some(Err((id, error))) => self.reject(id, &error),
                Some(Ok(_)) | None => {}
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

#[cfg(test)]
mod tests {
    use super::super::pending::CONCURRENT_MAX;
    use super::*;

    #[tokio::test]
    async fn a_cancellation_is_received_while_requests_wait() {
        let request = |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let mut input: String = (0..CONCURRENT_MAX).map(request).collect();
        input.push_str(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":0}}\n",
        );
        input.push_str(&request(CONCURRENT_MAX));
        let pending = Arc::new(PendingRequests::default());
        let (output, _reader) = tokio::io::duplex(64);
        let mut transport = LineTransport::new(std::io::Cursor::new(input), output, Arc::clone(&pending));
        for _ in 0..CONCURRENT_MAX {
            assert!(matches!(transport.receive().await, Some(JsonRpcMessage::Request(_))));
        }
        assert!(matches!(transport.receive().await, Some(JsonRpcMessage::Notification(_))));
        // The next request waits, and is not lost when receiving is cancelled.
        assert!(tokio::time::timeout(Duration::from_millis(50), transport.receive()).await.is_err());
        pending.finish(&RequestId::Number(1));
        let received = transport.receive().await;
        assert!(
            matches!(received, Some(JsonRpcMessage::Request(next)) if next.id == RequestId::Number(CONCURRENT_MAX as i64))
        );
    }
}
