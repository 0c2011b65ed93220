//! One client on standard input and output: a message a line.
//!
//! The SDK's own transport passes over what it cannot read. Here the client is told, a line that is too long is dropped
//! without being kept, and no more requests are taken than are being answered: a client that never reads its answers
//! stops being read itself.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{QuitReason, RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData, ServiceExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex as AsyncMutex, Notify};

use crate::{Server, malformed};

/// The longest line that is taken.
const LINE_MAX: usize = 4 * 1024 * 1024;

/// The most requests that are answered at once.
const AT_ONCE: usize = 256;

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
    let connection = server.connection();
    let serving = connection.serve(Lines::new(input, output));
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

/// Lines in, lines out.
struct Lines<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of the line is passed over.
    too_long: bool,
    output: Arc<AsyncMutex<W>>,
    answering: Arc<Answering>,
}

/// The requests that are being answered.
#[derive(Default)]
struct Answering {
    requests: Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl Answering {
    fn begin(&self, id: RequestId) {
        self.lock().insert(id);
    }

    fn end(&self, id: &RequestId) {
        if self.lock().remove(id) {
            self.fewer.notify_one();
        }
    }

    /// Waits until there is room for one more.
    async fn room(&self) {
        while self.lock().len() >= AT_ONCE {
            self.fewer.notified().await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a line was.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::with_capacity(64 * 1024, input),
            line: Vec::new(),
            too_long: false,
            output: Arc::new(AsyncMutex::new(output)),
            answering: Arc::default(),
        }
    }

    /// Reads up to the end of a line. May be given up and begun again: what was read is kept.
    async fn read_line(&mut self) -> std::io::Result<Line> {
        loop {
            let bytes = self.input.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(if self.line.is_empty() { Line::End } else { Line::Whole });
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(bytes, |end| &bytes[..end]);
            self.too_long |= self.line.len() + part.len() > LINE_MAX;
            match self.too_long {
                true => self.line.clear(),
                false => self.line.extend_from_slice(part),
            }
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                return Ok(if std::mem::take(&mut self.too_long) { Line::TooLong } else { Line::Whole });
            }
        }
    }

    /// Tells the client that a line was no message. In a task of its own: receiving may be given up at any time, and
    /// half a line must not be written.
    fn refuse(&self, id: Option<RequestId>, error: &ErrorData) {
        let mut bytes = malformed::answer(id, error).into_bytes();
        bytes.push(b'\n');
        let output = Arc::clone(&self.output);
        tokio::spawn(async move {
            let mut output = output.lock().await;
            if output.write_all(&bytes).await.is_ok() {
                // Whoever does not read this reads nothing.
                let _ = output.flush().await;
            }
        });
    }

    /// The message of the line, or why there is none.
    fn message(&mut self) -> Result<Option<ClientJsonRpcMessage>, (Option<RequestId>, ErrorData)> {
        let line = self.line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.line).trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice(line) {
            Ok(message) => Ok(Some(message)),
            Err(_) => Err(malformed::why(line)),
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (output, answering) = (Arc::clone(&self.output), Arc::clone(&self.answering));
        async move {
            let answered = match &item {
                ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
                ServerJsonRpcMessage::Error(error) => error.id.clone(),
                _ => None,
            };
            let mut bytes = serde_json::to_vec(&item)?;
            bytes.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&bytes).await?;
            output.flush().await?;
            if let Some(id) = answered {
                answering.end(&id);
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.answering.room().await;
            match self.read_line().await {
                Ok(Line::Whole) => {}
                Ok(Line::TooLong) => {
                    let message = format!("a line has at most {LINE_MAX} bytes");
                    self.refuse(None, &ErrorData::new(ErrorCode::INVALID_REQUEST, message, None));
                    continue;
                }
                Ok(Line::End) | Err(_) => return None,
            }
            let message = self.message();
            self.line.clear();
            match message {
                Ok(Some(message)) => {
                    match &message {
                        JsonRpcMessage::Request(request) => self.answering.begin(request.id.clone()),
                        JsonRpcMessage::Notification(notification) => {
                            if let ClientNotification::CancelledNotification(given_up) =
                                &notification.notification
                                && let Some(id) = &given_up.params.request_id
                            {
                                // It may never be answered.
                                self.answering.end(id);
                            }
                        }
                        _ => {}
                    }
                    return Some(message);
                }
                Ok(None) => {}
                Err((id, error)) => self.refuse(id, &error),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.shutdown().await
    }
}
