//! Reading server-sent events as they come.

use reqwest::Response;
use serde_json::Value;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub id: Option<u64>,
    pub event: String,
    pub data: Value,
}

impl Heard {
    pub fn is_end(&self) -> bool {
        matches!(self.event.as_str(), "done" | "error")
    }
}

/// A stream that is being read.
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

    /// The next event; `None` where the stream ends. Comments are passed over.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some(at) = self.bytes.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.bytes.drain(..at + 2).collect();
                if let Some(heard) = parse(std::str::from_utf8(&block).unwrap()) {
                    return Some(heard);
                }
                continue;
            }
            match self.response.chunk().await.unwrap() {
                Some(more) => self.bytes.extend_from_slice(&more),
                None => {
                    assert_eq!(self.bytes, b"", "a stream ends between events");
                    return None;
                }
            }
        }
    }

    pub async fn expect(&mut self, event: &str) -> Heard {
        let heard = self.next().await.expect("the stream goes on");
        assert_eq!(heard.event, event, "{heard:?}");
        heard
    }

    /// Everything until the stream ends.
    pub async fn all(mut self) -> Vec<Heard> {
        let mut all = Vec::new();
        while let Some(heard) = self.next().await {
            all.push(heard);
        }
        all
    }

    /// Everything up to the end of a turn.
    pub async fn turn(&mut self) -> Vec<Heard> {
        let mut all = Vec::new();
        while let Some(heard) = self.next().await {
            let is_end = heard.is_end();
            all.push(heard);
            if is_end {
                return all;
            }
        }
        panic!("the stream ended before the turn, after {} events: {:?}", all.len(), all.last());
    }
}

fn parse(block: &str) -> Option<Heard> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = field("data")?;
    Some(Heard {
        id: field("id").map(|id| id.parse().unwrap()),
        event: field("event").unwrap().to_owned(),
        data: serde_json::from_str(data).unwrap(),
    })
}

/// What was said.
pub fn said(all: &[Heard]) -> String {
    all.iter()
        .filter(|heard| heard.event == "delta")
        .map(|heard| heard.data["text"].as_str().unwrap())
        .collect()
}

/// The kinds of events, those that follow each other once.
pub fn kinds(all: &[Heard]) -> Vec<&str> {
    let mut kinds: Vec<&str> = all.iter().map(|heard| heard.event.as_str()).collect();
    kinds.dedup();
    kinds
}

/// Whether every number comes after the one before it, without a hole.
pub fn is_whole(all: &[Heard]) -> bool {
    all.windows(2).all(|pair| pair[1].id == pair[0].id.map(|id| id + 1))
}
