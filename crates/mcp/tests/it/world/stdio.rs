//! A client that speaks line by line, and says whatever it is told to.

use prowess_mcp::Server;
use prowess_mcp::stdio::{StdioError, serve_on};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{PATIENCE, initialize, with_meta};

/// How much fits between the client and the server.
const PIPE: usize = 64 * 1024;

pub struct Client {
    output: Option<WriteHalf<DuplexStream>>,
    input: Option<Reader>,
    last: i64,
    /// The revision whose requests bring everything along; without it, the client began with a handshake.
    inline: Option<&'static str>,
    /// What came without being asked for, and was not looked at yet.
    pub notes: Vec<Value>,
    serving: JoinHandle<Result<(), StdioError>>,
}

/// What a client hears.
pub struct Reader(BufReader<ReadHalf<DuplexStream>>);

impl Reader {
    /// The next message; `None` where there is none anymore.
    pub async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("nobody answers");
        (read.unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }
}

impl Client {
    /// A client that has said nothing yet.
    pub fn silent(server: &Server) -> Self {
        let (here, there) = tokio::io::duplex(PIPE);
        let server = server.clone();
        let serving = tokio::spawn(async move {
            let (input, output) = tokio::io::split(there);
            serve_on(&server, input, output, std::future::pending()).await
        });
        let (input, output) = tokio::io::split(here);
        let input = Some(Reader(BufReader::new(input)));
        Self { output: Some(output), input, last: 0, inline: None, notes: Vec::new(), serving }
    }

    /// A client that began with a handshake.
    pub async fn connected(server: &Server, version: &str) -> Self {
        let mut client = Self::silent(server);
        let answer = client.request("initialize", initialize(version)).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    /// A client of the revision without one.
    pub fn inline(server: &Server, version: &'static str) -> Self {
        Self { inline: Some(version), ..Self::silent(server) }
    }

    /// Says exactly this.
    pub async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        let output = self.output.as_mut().unwrap();
        timeout(PATIENCE, output.write_all(bytes.as_ref())).await.expect("nobody reads").unwrap();
    }

    /// Says this, if somebody takes it.
    pub async fn try_say(&mut self, bytes: impl AsRef<[u8]>, wait: std::time::Duration) -> bool {
        let output = self.output.as_mut().unwrap();
        timeout(wait, output.write_all(bytes.as_ref())).await.is_ok()
    }

    pub async fn line(&mut self, text: impl std::fmt::Display) {
        self.say(format!("{text}\n")).await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.line(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Asks, and goes on.
    pub async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let params = self.inline.map_or(params.clone(), |version| with_meta(params, version));
        self.line(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})).await;
        self.last
    }

    /// The next message, whatever it is; `None` where there is none anymore.
    pub async fn next(&mut self) -> Option<Value> {
        self.input.as_mut().unwrap().next().await
    }

    /// What reads, for somebody who reads while the client speaks.
    pub fn take_reader(&mut self) -> Reader {
        self.input.take().unwrap()
    }

    /// The answer to a request.
    pub async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        loop {
            let message = self.next().await.expect("the server is gone");
            if message.get("method").is_some() {
                self.notes.push(message);
            } else {
                assert_eq!(message["jsonrpc"], "2.0");
                assert_eq!(message["id"], id, "{message}");
                return message;
            }
        }
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// The result of a request that has one.
    pub async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// The next notification of this method.
    pub async fn note(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return self.notes.remove(at);
            }
            let message = self.next().await.expect("the server is gone");
            assert!(message.get("method").is_some(), "{message}");
            self.notes.push(message);
        }
    }

    /// What is said within a moment. For what must not be said: a later look proves more, but none proves all.
    pub async fn overheard(&mut self) -> Vec<Value> {
        tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
        self.result("tools/list", json!({})).await;
        std::mem::take(&mut self.notes)
    }

    /// Says nothing more.
    pub async fn hang_up(&mut self) {
        if let Some(mut output) = self.output.take() {
            let _ = output.shutdown().await;
        }
    }

    /// Goes away. What is said meanwhile is given along.
    pub async fn leave(mut self) -> (Vec<Value>, Result<(), StdioError>) {
        self.hang_up().await;
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        (rest, timeout(PATIENCE, self.serving).await.expect("it is still serving").unwrap())
    }

    /// Goes away without a word, and without listening.
    pub async fn vanish(self) -> Result<(), StdioError> {
        drop((self.output, self.input));
        timeout(PATIENCE, self.serving).await.expect("it is still serving").unwrap()
    }
}
