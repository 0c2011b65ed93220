//! HTTP responses: a body, or a stream of events.

use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::TEST_TIMEOUT;

/// A response. Dropping it closes the connection.
pub struct HttpTestResponse {
    pub status: u16,
    headers: Vec<(String, String)>,
    stream: TcpStream,
    /// The bytes that were received but not parsed.
    buffer: Vec<u8>,
    body: Vec<u8>,
    is_chunked: bool,
    is_finished: bool,
}

/// An event of a stream.
#[derive(Debug, Default)]
pub struct Event {
    pub id: Option<String>,
    pub retry: Option<String>,
    pub data: String,
}

impl HttpTestResponse {
    pub async fn read(stream: TcpStream) -> Self {
        let (headers, rest, body) = Default::default();
        let mut reply =
            Self { status: 0, headers, stream, buffer: rest, body, is_chunked: false, is_finished: false };
        let end = loop {
            if let Some(end) = reply.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            assert!(reply.fill_buffer().await, "no response");
        };
        let head = String::from_utf8(reply.buffer.drain(..end + 4).collect()).unwrap();
        let mut lines = head.lines();
        reply.status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        reply.headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        reply.is_chunked = reply.header("transfer-encoding") == Some("chunked");
        reply
    }

    /// Panics with the body if the status differs.
    pub async fn expect_status(&mut self, status: u16) {
        if self.status != status {
            let (status, body) = (self.status, self.text().await);
            panic!("{status} {body}");
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    async fn fill_buffer(&mut self) -> bool {
        let mut bytes = vec![0; 64 * 1024];
        let read = timeout(TEST_TIMEOUT, self.stream.read(&mut bytes)).await.expect("no response");
        let count = read.unwrap_or(0);
        self.buffer.extend_from_slice(&bytes[..count]);
        count > 0
    }

    /// Reads more of the body; returns `false` at its end.
    async fn read_more(&mut self) -> bool {
        while !self.is_finished {
            if !self.is_chunked {
                self.body.append(&mut self.buffer);
                self.is_finished = !self.fill_buffer().await;
                return true;
            }
            let line = self.buffer.windows(2).position(|two| two == b"\r\n");
            let size = line.and_then(|end| std::str::from_utf8(&self.buffer[..end]).ok().map(str::to_owned));
            let size = size.map(|size| usize::from_str_radix(size.trim(), 16).unwrap());
            match (line, size) {
                (Some(_), Some(0)) => self.is_finished = true,
                (Some(end), Some(size)) if self.buffer.len() >= end + 2 + size + 2 => {
                    self.body.extend_from_slice(&self.buffer[end + 2..end + 2 + size]);
                    self.buffer.drain(..end + 2 + size + 2);
                    return true;
                }
                _ => self.is_finished = !self.fill_buffer().await,
            }
        }
        false
    }

    /// Returns the complete body.
    pub async fn text(&mut self) -> String {
        while self.read_more().await {}
        String::from_utf8(std::mem::take(&mut self.body)).unwrap()
    }

    /// Returns the next event, without pings; `None` at the end.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            while let Some(end) = self.body.windows(2).position(|two| two == b"\n\n") {
                let text = String::from_utf8(self.body.drain(..end + 2).collect()).unwrap();
                let mut event = Event::default();
                for line in text.lines() {
                    match line.split_once(':').map(|(field, value)| (field, value.trim_start().to_owned())) {
                        Some(("id", id)) => event.id = Some(id),
                        Some(("retry", retry)) => event.retry = Some(retry),
                        Some(("data", data)) => event.data.push_str(&data),
                        _ => {}
                    }
                }
                if event.id.is_some() || event.retry.is_some() || !event.data.is_empty() {
                    return Some(event);
                }
            }
            if !self.read_more().await {
                return None;
            }
        }
    }

    /// Returns the next message: the complete body, or the next event with data.
    pub async fn message(&mut self) -> Value {
        self.next_message().await.expect("the stream ended")
    }

    pub async fn next_message(&mut self) -> Option<Value> {
        if self.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
            let text = self.text().await;
            return (!text.is_empty()).then(|| serde_json::from_str(&text).unwrap());
        }
        loop {
            let event = self.event().await?;
            if !event.data.is_empty() {
                return Some(serde_json::from_str(&event.data).unwrap());
            }
        }
    }
}
