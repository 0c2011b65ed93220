//! Lines in, lines out.

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

use super::answering::Answering;
use crate::malformed;

/// The longest line that is taken.
const LINE_MAX: usize = 4 * 1024 * 1024;

/// How long what is being written is waited for at the end.
const CLOSING: Duration = Duration::from_secs(1);

/// Lines in, lines out.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of the line is passed over.
    too_long: bool,
    output: Arc<AsyncMutex<W>>,
    answering: Arc<Answering>,
    /// Whether the client asked for anything yet.
    begun: bool,
}

/// What a line was.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(super) fn new(input: R, output: W, answering: Arc<Answering>) -> Self {
        Self {
            input: BufReader::with_capacity(64 * 1024, input),
            line: Vec::new(),
            too_long: false,
            output: Arc::new(AsyncMutex::new(output)),
            answering,
            begun: false,
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
        let (output, answering) = (Arc::clone(&self.output), Arc::clone(&self.answering));
        answering.refuse();
        tokio::spawn(async move {
            if write(&mut *output.lock().await, &bytes).await.is_err() {
                answering.break_off();
            }
            answering.refused();
        });
    }

    /// Whether a message is handed on.
    fn takes(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                self.begun = true;
                // Whoever listens is answered when everything is over, which nobody should have to wait for.
                let listens = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                let taken = listens || self.answering.begin(&request.id);
                if !taken {
                    let message = "a request with this id is being answered; ids are used once";
                    // It is not said whose: the client would take it for the other one's answer.
                    self.refuse(None, &ErrorData::new(ErrorCode::INVALID_REQUEST, message, None));
                }
                taken
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(given_up) = &notification.notification
                    && let Some(id) = &given_up.params.request_id
                {
                    self.answering.give_up(id);
                }
                self.begun
            }
            // The SDK ends a conversation that begins with anything but a request.
            _ => self.begun,
        }
    }

    /// The message of the line, or why there is none.
    fn message(&mut self) -> Result<Option<ClientJsonRpcMessage>, (Option<RequestId>, ErrorData)> {
        let line = self.line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.line).trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice(line) {
            Ok(message) => Ok(Some(message)),
            Err(_) if malformed::is_notification(line) => Ok(None),
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
            let mut output = output.lock().await;
            // Only now: answers that wait for others are not kept twice.
            let mut bytes = serde_json::to_vec(&item)?;
            bytes.push(b'\n');
            let written = write(&mut *output, &bytes).await;
            if written.is_err() {
                answering.break_off();
            }
            if let Some(id) = answered {
                answering.end(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if !self.answering.room().await {
                return None;
            }
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
                    if self.takes(&message) {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err((id, error)) => self.refuse(id, &error),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Whoever did not read until now keeps the writer busy for good.
        match tokio::time::timeout(CLOSING, self.output.lock()).await {
            Ok(mut output) => output.shutdown().await,
            Err(_) => Ok(()),
        }
    }
}

async fn write(output: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    output.write_all(bytes).await?;
    output.flush().await
}
