//! A client that sends raw lines.

use prowess_mcp::McpServer;
use prowess_mcp::stdio::{ServeStdioError, serve_on};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{TEST_TIMEOUT, initialize_params, with_meta};

/// The capacity of the pipe between the client and the server.
const PIPE_CAPACITY: usize = 64 * 1024;

pub struct StdioTestClient {
    output: Option<WriteHalf<DuplexStream>>,
    input: Option<LineReader>,
    last: i64,
    /// The revision of a client without a handshake.
    stateless_version: Option<&'static str>,
    /// The received notifications that were not examined yet.
    pub notifications: Vec<Value>,
    serving: JoinHandle<Result<(), ServeStdioError>>,
}

/// The input of a client.
pub struct LineReader(BufReader<ReadHalf<DuplexStream>>);

impl LineReader {
    /// Returns the next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(TEST_TIMEOUT, self.0.read_line(&mut line)).await.expect("no response");
        (read.unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }
}

impl StdioTestClient {
    /// Creates a client that has sent nothing yet.
    pub fn unconnected(server: &McpServer) -> Self {
        let (client_end, server_end) = tokio::io::duplex(PIPE_CAPACITY);
        let server = server.clone();
        let serving = tokio::spawn(async move {
            let (input, output) = tokio::io::split(server_end);
            serve_on(&server, input, output, std::future::pending()).await
        });
        let (input, output) = tokio::io::split(client_end);
        let input = Some(LineReader(BufReader::new(input)));
        Self {
            output: Some(output),
            input,
            last: 0,
            stateless_version: None,
            notifications: Vec::new(),
            serving,
        }
    }

    /// Creates a client and performs the handshake.
    pub async fn connected(server: &McpServer, version: &str) -> Self {
        Self::connected_with(server, version, json!({})).await
    }

    /// Creates a client with capabilities and performs the handshake.
    pub async fn connected_with(server: &McpServer, version: &str, capabilities: Value) -> Self {
        let mut client = Self::unconnected(server);
        let mut params = initialize_params(version);
        params["capabilities"] = capabilities;
        let response = client.request("initialize", params).await;
        assert_eq!(response["result"]["protocolVersion"], version);
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    /// Creates a client of the revision without a handshake.
    pub fn stateless(server: &McpServer, version: &'static str) -> Self {
        Self { stateless_version: Some(version), ..Self::unconnected(server) }
    }

    /// Sends raw bytes.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let output = self.output.as_mut().unwrap();
        timeout(TEST_TIMEOUT, output.write_all(bytes.as_ref()))
            .await
            .expect("the server does not read")
            .unwrap();
    }

    /// Sends raw bytes; returns `false` if the server does not read them in time.
    pub async fn try_send(&mut self, bytes: impl AsRef<[u8]>, wait: std::time::Duration) -> bool {
        let output = self.output.as_mut().unwrap();
        timeout(wait, output.write_all(bytes.as_ref())).await.is_ok()
    }

    pub async fn send_line(&mut self, text: impl std::fmt::Display) {
        self.send(format!("{text}\n")).await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send_line(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Sends a request without waiting for the response.
    pub async fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let params = self.stateless_version.map_or(params.clone(), |version| with_meta(params, version));
        self.send_line(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})).await;
        self.last
    }

    /// Returns the next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        self.input.as_mut().unwrap().next().await
    }

    /// Answers a request of the server.
    pub async fn answer(&mut self, request: &Value, result: Value) {
        self.send_line(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// Takes the reader, for reading while the client writes.
    pub fn take_reader(&mut self) -> LineReader {
        self.input.take().unwrap()
    }

    /// Waits for the response to a request.
    pub async fn response(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        loop {
            let message = self.next().await.expect("the server closed the connection");
            if message.get("method").is_some() {
                self.notifications.push(message);
            } else {
                assert_eq!(message["jsonrpc"], "2.0");
                assert_eq!(message["id"], id, "{message}");
                return message;
            }
        }
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params).await;
        self.response(id).await
    }

    /// Sends a request and returns its result.
    pub async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params).await;
        assert!(response.get("error").is_none(), "{response}");
        response["result"].take()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Waits for the next notification with this method.
    pub async fn notification(&mut self, method: &str) -> Value {
        loop {
            if let Some(index) = self.notifications.iter().position(|note| note["method"] == method) {
                return self.notifications.remove(index);
            }
            let message = self.next().await.expect("the server closed the connection");
            assert!(message.get("method").is_some(), "{message}");
            self.notifications.push(message);
        }
    }

    /// Returns the notifications within a moment, to check that there are none.
    pub async fn take_notifications(&mut self) -> Vec<Value> {
        tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
        self.result("tools/list", json!({})).await;
        std::mem::take(&mut self.notifications)
    }

    /// Closes the output.
    pub async fn close_output(&mut self) {
        if let Some(mut output) = self.output.take() {
            let _ = output.shutdown().await;
        }
    }

    /// Disconnects cleanly; returns the remaining messages.
    pub async fn disconnect(mut self) -> (Vec<Value>, Result<(), ServeStdioError>) {
        self.close_output().await;
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        (rest, timeout(TEST_TIMEOUT, self.serving).await.expect("the server is still running").unwrap())
    }

    /// Disconnects without reading the remaining messages.
    pub async fn abort(self) -> Result<(), ServeStdioError> {
        drop((self.output, self.input));
        timeout(TEST_TIMEOUT, self.serving).await.expect("the server is still running").unwrap()
    }
}
