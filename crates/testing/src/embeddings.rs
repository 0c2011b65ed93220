//! A server that turns texts into vectors as OpenAI and Ollama do, or does what it is told instead.
//!
//! Its vectors mean something: words that mean the same share a number, so that a test can ask for "billing" and find what
//! speaks of invoices.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Words that mean the same. Each row is a number of the vectors; the last number is the same for all texts.
const MEANINGS: [&[&str]; 6] = [
    &["invoice", "invoices", "billing", "bill"],
    &["pdf", "document", "documents", "merge", "merges"],
    &["weather", "forecast", "rain", "umbrella"],
    &["deploy", "deploys", "release", "ship"],
    &["test", "tests", "verify"],
    &["image", "images", "picture", "photo"],
];

/// What happens to one request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Vectors.
    Vectors,
    /// This status, and what `Retry-After` says.
    Status(u16, Option<&'static str>),
    /// Nothing, for so long.
    Silence(Duration),
    /// Vectors with one number more than usual.
    Longer,
    /// One vector less than there are texts.
    Fewer,
    /// These bytes with status 200.
    Bytes(String),
    /// More bytes than anybody should read.
    Flood,
    /// The connection ends.
    Gone,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Where it was sent.
    pub path: String,
    /// What `Authorization` said.
    pub authorization: Option<String>,
    /// The texts.
    pub texts: Vec<String>,
    /// The model.
    pub model: String,
}

/// A server on a free port of this machine. It ends with the process of the test.
#[derive(Debug, Clone)]
pub struct Embeddings {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Embeddings {
    /// Begins to serve vectors.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Self { address, asked: Arc::default(), replies: Arc::default() };
        let served = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let served = served.clone();
                std::thread::spawn(move || served.talk(stream.unwrap()));
            }
        });
        server
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What happens to the next requests, before there are vectors again.
    pub fn then(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// What was asked since this was last called.
    pub fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// How many texts were sent since this was last called.
    pub fn take_texts(&self) -> Vec<String> {
        self.take_asked().into_iter().flat_map(|asked| asked.texts).collect()
    }

    fn talk(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        while let Some(asked) = read(&mut reader) {
            let reply = self.replies.lock().unwrap().pop_front().unwrap_or(Reply::Vectors);
            self.asked.lock().unwrap().push(asked.clone());
            let (status, more, body) = match reply {
                Reply::Vectors => (200, String::new(), answer(&asked, vectors(&asked.texts))),
                Reply::Status(status, after) => {
                    let after = after.map_or_else(String::new, |after| format!("Retry-After: {after}\r\n"));
                    (status, after, "{\"error\": {\"message\": \"wrong key sk-SECRET\"}}".to_owned())
                }
                Reply::Silence(long) => {
                    std::thread::sleep(long);
                    return;
                }
                Reply::Longer => {
                    let mut vectors = vectors(&asked.texts);
                    vectors.iter_mut().for_each(|vector| vector.push(1.0));
                    (200, String::new(), answer(&asked, vectors))
                }
                Reply::Fewer => {
                    let mut vectors = vectors(&asked.texts);
                    vectors.pop();
                    (200, String::new(), answer(&asked, vectors))
                }
                Reply::Bytes(bytes) => (200, String::new(), bytes),
                Reply::Flood => return flood(stream),
                Reply::Gone => return,
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n",
                body.len()
            );
            if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// A body without an end, until the client has enough of it.
fn flood(mut stream: TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n\r\n");
    let spaces = vec![b' '; 1 << 20];
    while stream.write_all(&spaces).is_ok() {}
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
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
    Some(Asked { path, authorization, texts, model: body["model"].as_str()?.to_owned() })
}

fn answer(asked: &Asked, vectors: Vec<Vec<f32>>) -> String {
    if asked.path.ends_with("/api/embed") {
        return json!({"model": asked.model, "embeddings": vectors}).to_string();
    }
    // The last first: it is the index that says which text a vector is of.
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .rev()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    json!({"object": "list", "data": data, "model": asked.model}).to_string()
}

fn vectors(texts: &[String]) -> Vec<Vec<f32>> {
    texts.iter().map(|text| vector(text)).collect()
}

/// The vector of a text.
pub fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let has = |meaning: &[&str]| words.iter().filter(|word| meaning.contains(word)).count() as f32;
    MEANINGS.iter().map(|meaning| has(meaning)).chain([0.2]).collect()
}
