//! An embeddings server with the APIs of OpenAI and Ollama. It can also send scripted failures.
//!
//! Synonyms share a dimension, so that a search for "billing" finds a text about invoices.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Groups of synonyms, one per dimension. The last dimension of a vector is the same for all texts.
const SYNONYMS: [&[&str]; 6] = [
    &["invoice", "invoices", "billing", "bill"],
    &["pdf", "document", "documents", "merge", "merges"],
    &["weather", "forecast", "rain", "umbrella"],
    &["deploy", "deploys", "release", "ship"],
    &["test", "tests", "verify"],
    &["image", "images", "picture", "photo"],
];

/// The response to one request.
#[derive(Debug, Clone)]
pub enum EmbeddingReply {
    /// One vector per text.
    Vectors,
    /// An error with this status and this `Retry-After` header.
    Status(u16, Option<&'static str>),
    /// No response; the connection is closed after this time.
    Silence(Duration),
    /// Vectors with one dimension too many.
    Longer,
    /// One vector too few.
    Fewer,
    /// This body with status 200.
    Bytes(String),
    /// An endless body.
    Flood,
    /// No response; the connection is closed at once.
    Close,
}

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct EmbeddingRequest {
    /// The path of the URL.
    pub path: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The texts to embed.
    pub texts: Vec<String>,
    /// The name of the model.
    pub model: String,
}

/// A server on a free local port. It runs until the test process exits.
#[derive(Debug, Clone)]
pub struct EmbeddingServer {
    address: String,
    requests: Arc<Mutex<Vec<EmbeddingRequest>>>,
    replies: Arc<Mutex<VecDeque<EmbeddingReply>>>,
}

impl EmbeddingServer {
    /// Starts a server that responds with vectors.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Self { address, requests: Arc::default(), replies: Arc::default() };
        let handler = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let handler = handler.clone();
                std::thread::spawn(move || handler.serve(stream.unwrap()));
            }
        });
        server
    }

    /// Returns the base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues responses to the next requests. After them, the server responds with vectors again.
    pub fn queue(&self, replies: impl IntoIterator<Item = EmbeddingReply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// Returns the requests since the last call of this function.
    pub fn take_requests(&self) -> Vec<EmbeddingRequest> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    /// Returns the texts of all requests since the last call of this function.
    pub fn take_texts(&self) -> Vec<String> {
        self.take_requests().into_iter().flat_map(|request| request.texts).collect()
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        while let Some(request) = read_request(&mut reader) {
            let reply = self.replies.lock().unwrap().pop_front().unwrap_or(EmbeddingReply::Vectors);
            self.requests.lock().unwrap().push(request.clone());
            let (status, headers, body) = match reply {
                EmbeddingReply::Vectors => {
                    (200, String::new(), response_body(&request, vectors(&request.texts)))
                }
                EmbeddingReply::Status(status, after) => {
                    let after = after.map_or_else(String::new, |after| format!("Retry-After: {after}\r\n"));
                    (status, after, "{\"error\": {\"message\": \"wrong key sk-SECRET\"}}".to_owned())
                }
                EmbeddingReply::Silence(duration) => {
                    std::thread::sleep(duration);
                    return;
                }
                EmbeddingReply::Longer => {
                    let mut vectors = vectors(&request.texts);
                    vectors.iter_mut().for_each(|vector| vector.push(1.0));
                    (200, String::new(), response_body(&request, vectors))
                }
                EmbeddingReply::Fewer => {
                    let mut vectors = vectors(&request.texts);
                    vectors.pop();
                    (200, String::new(), response_body(&request, vectors))
                }
                EmbeddingReply::Bytes(bytes) => (200, String::new(), bytes),
                EmbeddingReply::Flood => return send_endless_body(stream),
                EmbeddingReply::Close => return,
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n",
                body.len()
            );
            if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// Sends a body without end, until the client disconnects.
fn send_endless_body(mut stream: TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n\r\n");
    let spaces = vec![b' '; 1 << 20];
    while stream.write_all(&spaces).is_ok() {}
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<EmbeddingRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match &*name.to_ascii_lowercase() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let texts = body["input"].as_array()?.iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    Some(EmbeddingRequest { path, authorization, texts, model: body["model"].as_str()?.to_owned() })
}

fn response_body(request: &EmbeddingRequest, vectors: Vec<Vec<f32>>) -> String {
    if request.path.ends_with("/api/embed") {
        return json!({"model": request.model, "embeddings": vectors}).to_string();
    }
    // In reverse order, because clients must use the index to match vectors to texts.
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .rev()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    json!({"object": "list", "data": data, "model": request.model}).to_string()
}

fn vectors(texts: &[String]) -> Vec<Vec<f32>> {
    texts.iter().map(|text| vector(text)).collect()
}

/// Returns the vector of a text.
pub fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let count = |synonyms: &[&str]| words.iter().filter(|word| synonyms.contains(word)).count() as f32;
    SYNONYMS.iter().map(|synonyms| count(synonyms)).chain([0.2]).collect()
}
