//! A model server with scripted replies over HTTP/1.1, including invalid and interrupted ones.

mod blocking;
mod validate;
pub mod wire_format;

use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use blocking::BlockingModelServer;
use prowess_config::ChatProvider;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
pub use validate::validate_request;
use wire_format::{ReplyPart, encode_reply};

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The path of the URL.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, or null if it is not JSON.
    pub body: Value,
}

impl RecordedRequest {
    /// Returns the value of a header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// The response to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// The parts of the body, in order.
    pub pieces: Vec<ReplyPiece>,
}

/// A part of a response body, or an event while it is sent.
#[derive(Debug, Clone)]
pub enum ReplyPiece {
    /// Sends these bytes as one chunk.
    Bytes(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Keeps the connection open and sends nothing more.
    Hang,
    /// Resets the connection.
    Reset,
}

impl Reply {
    /// Returns an event stream with one chunk.
    pub fn events(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream; charset=utf-8".to_owned())],
            pieces: vec![ReplyPiece::Bytes(bytes.into())],
        }
    }

    /// Returns an event stream with chunks of `size` bytes, regardless of event boundaries.
    pub fn chunked(bytes: impl Into<Vec<u8>>, size: usize) -> Self {
        let pieces = bytes.into().chunks(size).map(|piece| ReplyPiece::Bytes(piece.to_vec())).collect();
        Self { pieces, ..Self::events("") }
    }

    /// Returns an error response with a JSON body.
    pub fn failure(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            pieces: vec![ReplyPiece::Bytes(body.as_bytes().to_vec())],
        }
    }

    /// Sets a header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Appends a piece.
    pub fn then(mut self, piece: ReplyPiece) -> Self {
        self.pieces.push(piece);
        self
    }
}

/// A server on a free local port. It sends the replies in order and repeats the last one. Requests that the provider would reject get
/// an error; see [`validate_request`].
pub struct ModelServer {
    /// The base URL, without a path.
    pub base: String,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ModelServer {
    /// Starts a server with these replies.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        Self::with_handler(move |_, number| replies[number.min(replies.len() - 1)].clone()).await
    }

    /// Starts a server that replies in the format of a provider, one step per request.
    pub async fn scripted(provider: ChatProvider, steps: &[Vec<ReplyPart>]) -> Self {
        Self::start(steps.iter().map(|step| Reply::events(encode_reply(provider, step)))).await
    }

    /// Starts a server that replies to each request with the result of `handler`, which receives the request and its number.
    pub async fn with_handler(
        handler: impl Fn(&RecordedRequest, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (recorded, handler) = (Arc::clone(&requests), Arc::new(handler));
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (recorded, handler) = (Arc::clone(&recorded), Arc::clone(&handler));
                tokio::spawn(async move {
                    let _ = serve(stream, &recorded, &*handler).await;
                });
            }
        });
        Self { base, requests, task }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    recorded: &Mutex<Vec<RecordedRequest>>,
    handler: &(impl Fn(&RecordedRequest, usize) -> Reply + ?Sized),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(request) = read_request(&mut stream).await? else { return Ok(()) };
    let number = {
        let mut recorded = recorded.lock().unwrap();
        recorded.push(request.clone());
        recorded.len() - 1
    };
    let reply = match validate_request(&request) {
        Ok(()) => handler(&request, number),
        Err(problem) => Reply::failure(400, &validate::rejection(&problem)),
    };
    if matches!(reply.pieces.first(), Some(ReplyPiece::Reset)) {
        return reset(stream);
    }
    if matches!(reply.pieces.first(), Some(ReplyPiece::Hang)) {
        std::future::pending::<()>().await;
    }
    let mut head =
        format!("HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await?;
    for piece in reply.pieces {
        match piece {
            ReplyPiece::Bytes(bytes) if bytes.is_empty() => {}
            ReplyPiece::Bytes(bytes) => {
                stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
                stream.write_all(&bytes).await?;
                stream.write_all(b"\r\n").await?;
                stream.flush().await?;
                // The client should receive each piece separately.
                tokio::task::yield_now().await;
            }
            ReplyPiece::Pause(time) => tokio::time::sleep(time).await,
            ReplyPiece::Hang => std::future::pending::<()>().await,
            ReplyPiece::Reset => return reset(stream),
        }
    }
    stream.write_all(b"0\r\n\r\n").await?;
    stream.shutdown().await
}

/// Resets the connection and discards unsent data.
fn reset(stream: TcpStream) -> std::io::Result<()> {
    stream.set_zero_linger()?;
    drop(stream);
    Ok(())
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<RecordedRequest>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.lines();
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
    while bytes.len() < head + 4 + length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    let body = serde_json::from_slice(&bytes[head + 4..head + 4 + length]).unwrap_or_default();
    Ok(Some(RecordedRequest { path, headers, body }))
}
