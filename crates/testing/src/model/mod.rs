//! A model server that does what it is told, byte by byte: HTTP/1.1 as providers speak it, and as they should not.

mod blocking;
pub mod speech;

use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use blocking::Blocking;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Where it was sent.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null where it is no JSON.
    pub body: Value,
}

impl Asked {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What is sent for one request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// The headers, besides those that every answer has.
    pub headers: Vec<(&'static str, String)>,
    /// What happens, one after the other.
    pub pieces: Vec<Piece>,
}

/// What happens next.
#[derive(Debug, Clone)]
pub enum Piece {
    /// These bytes, as one chunk.
    Bytes(Vec<u8>),
    /// Nothing for a while.
    Pause(Duration),
    /// Nothing, for ever.
    Hang,
    /// The connection is gone.
    Reset,
}

impl Reply {
    /// A stream of events, in one piece.
    pub fn events(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream; charset=utf-8".to_owned())],
            pieces: vec![Piece::Bytes(bytes.into())],
        }
    }

    /// The same in pieces of so many bytes, wherever that cuts.
    pub fn cut(bytes: impl Into<Vec<u8>>, size: usize) -> Self {
        let pieces = bytes.into().chunks(size).map(|piece| Piece::Bytes(piece.to_vec())).collect();
        Self { pieces, ..Self::events("") }
    }

    /// A failure with a JSON body.
    pub fn failure(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            pieces: vec![Piece::Bytes(body.as_bytes().to_vec())],
        }
    }

    /// With another header, or another value of it.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    /// And this happens after the rest.
    pub fn then(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }
}

/// A server on a free port of this machine. It gives the replies one after the other, and the last one again and again.
pub struct Server {
    /// Its address, without a path.
    pub base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// A server that gives these replies.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        Self::answering(move |_, number| replies[number.min(replies.len() - 1)].clone()).await
    }

    /// A server that looks at each request before it answers.
    pub async fn answering(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    let _ = serve(stream, &seen, &*answer).await;
                });
            }
        });
        Self { base, asked, task }
    }

    /// What it was asked.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Asked>>,
    answer: &(impl Fn(&Asked, usize) -> Reply + ?Sized),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(asked) = read(&mut stream).await? else { return Ok(()) };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(asked.clone());
        seen.len() - 1
    };
    let reply = answer(&asked, number);
    if matches!(reply.pieces.first(), Some(Piece::Reset)) {
        return reset(stream);
    }
    if matches!(reply.pieces.first(), Some(Piece::Hang)) {
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
            Piece::Bytes(bytes) if bytes.is_empty() => {}
            Piece::Bytes(bytes) => {
                stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
                stream.write_all(&bytes).await?;
                stream.write_all(b"\r\n").await?;
                stream.flush().await?;
                // Each piece arrives by itself.
                tokio::task::yield_now().await;
            }
            Piece::Pause(time) => tokio::time::sleep(time).await,
            Piece::Hang => std::future::pending::<()>().await,
            Piece::Reset => return reset(stream),
        }
    }
    stream.write_all(b"0\r\n\r\n").await?;
    stream.shutdown().await
}

/// Closes without a goodbye: what was not read is thrown away, and the other side hears of it.
fn reset(stream: TcpStream) -> std::io::Result<()> {
    stream.set_zero_linger()?;
    drop(stream);
    Ok(())
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Option<Asked>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
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
    Ok(Some(Asked { path, headers, body }))
}
