//! Reads server-sent events incrementally.

use reqwest::Response;
use serde_json::Value;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct SseEvent {
    pub id: Option<u64>,
    pub event: String,
    pub data: Value,
}

impl SseEvent {
    pub fn is_end(&self) -> bool {
        matches!(self.event.as_str(), "done" | "error")
    }
}

/// An open event stream.
#[derive(Debug)]
pub struct Events {
    response: Response,
    bytes: Vec<u8>,
}

impl Events {
    pub async fn of(response: Response) -> Self {
        if !response.status().is_success() {
            panic!("{}: {}", response.status(), response.text().await.unwrap());
        }
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(
            (header("content-type"), header("cache-control")),
            ("text/event-stream".into(), "no-store".into())
        );
        Self { response, bytes: Vec::new() }
    }

    /// Returns the next event; `None` at the end of the stream. Skips comments.
    pub async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.bytes.drain(..end + 2).collect();
                if let Some(received) = parse(std::str::from_utf8(&block).unwrap()) {
                    return Some(received);
                }
                continue;
            }
            match self.response.chunk().await.unwrap() {
                Some(bytes) => self.bytes.extend_from_slice(&bytes),
                None => {
                    assert_eq!(self.bytes, b"", "a stream ends between events");
                    return None;
                }
            }
        }
    }

    pub async fn expect(&mut self, event: &str) -> SseEvent {
        let received = self.next().await.expect("the stream continues");
        assert_eq!(received.event, event, "{received:?}");
        received
    }

    /// Returns all events until the stream ends.
    pub async fn all(mut self) -> Vec<SseEvent> {
        let mut all = Vec::new();
        while let Some(received) = self.next().await {
            all.push(received);
        }
        all
    }

    /// Returns all events until the turn ends.
    pub async fn turn(&mut self) -> Vec<SseEvent> {
        let mut all = Vec::new();
        while let Some(received) = self.next().await {
            let is_end = received.is_end();
            all.push(received);
            if is_end {
                return all;
            }
        }
        panic!("the stream ended before the turn, after {} events: {:?}", all.len(), all.last());
    }
}

fn parse(block: &str) -> Option<SseEvent> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = field("data")?;
    Some(SseEvent {
        id: field("id").map(|id| id.parse().unwrap()),
        event: field("event").unwrap().to_owned(),
        data: serde_json::from_str(data).unwrap(),
    })
}

/// Returns the streamed text.
pub fn streamed_text(all: &[SseEvent]) -> String {
    all.iter()
        .filter(|received| received.event == "delta")
        .map(|received| received.data["text"].as_str().unwrap())
        .collect()
}

/// Returns the kinds of events without consecutive duplicates.
pub fn event_kinds(all: &[SseEvent]) -> Vec<&str> {
    let mut event_kinds: Vec<&str> = all.iter().map(|received| received.event.as_str()).collect();
    event_kinds.dedup();
    event_kinds
}

/// Returns whether the event numbers are consecutive.
pub fn is_contiguous(all: &[SseEvent]) -> bool {
    all.windows(2).all(|pair| pair[1].id == pair[0].id.map(|id| id + 1))
}
