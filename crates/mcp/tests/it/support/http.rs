//! A client that writes raw HTTP requests.

use std::net::SocketAddr;

use prowess_mcp::McpServer;
use prowess_mcp::http::{HttpOptions, MCP_PATH, ServeHttpError, serve};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub use super::reply::HttpTestResponse;
use super::{NEWEST_VERSION, TEST_TIMEOUT, initialize_params, with_meta};

/// An HTTP server on a free port.
pub struct HttpTestServer {
    pub address: SocketAddr,
    pub stop: CancellationToken,
    serving: JoinHandle<Result<(), ServeHttpError>>,
}

impl HttpTestServer {
    pub async fn start_with(server: &McpServer, options: HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop, server) =
            (listener.local_addr().unwrap(), CancellationToken::new(), server.clone());
        let ended = stop.clone();
        let serving = tokio::spawn(async move { serve(&server, listener, options, ended).await });
        Self { address, stop, serving }
    }

    pub async fn start(server: &McpServer) -> Self {
        Self::start_with(server, HttpOptions::default()).await
    }

    /// Creates a request.
    pub fn request(&self, method: &'static str) -> HttpTestRequest {
        let accept = "application/json, text/event-stream";
        let headers = vec![("Host", self.address.to_string()), ("Accept", accept.to_owned())];
        HttpTestRequest { address: self.address, method, headers, body: None }
    }

    pub fn post(&self, body: impl Into<Vec<u8>>) -> HttpTestRequest {
        let mut request = self.request("POST").with("Content-Type", "application/json");
        request.body = Some(body.into());
        request
    }

    /// Creates a request of the revision without sessions.
    pub fn stateless_request(&self, id: i64, method: &str, params: Value) -> HttpTestRequest {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": with_meta(params, NEWEST_VERSION)});
        let name = ["name", "uri"].iter().find_map(|key| message["params"][*key].as_str()).map(str::to_owned);
        let request = self.post(message.to_string());
        let request = request.with("MCP-Protocol-Version", NEWEST_VERSION).with("Mcp-Method", method);
        name.iter().fold(request, |request, name| request.with("Mcp-Name", name))
    }

    /// Starts a session with a handshake.
    pub async fn session(&self, version: &'static str) -> HttpTestSession {
        self.session_with(version, json!({})).await
    }

    /// Starts a session of a client with capabilities.
    pub async fn session_with(&self, version: &'static str, capabilities: Value) -> HttpTestSession {
        let mut params = initialize_params(version);
        params["capabilities"] = capabilities;
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let mut reply = self.post(message.to_string()).send().await;
        reply.expect_status(200).await;
        let id = reply.header("mcp-session-id").expect("a session").to_owned();
        let response = reply.message().await;
        assert_eq!(response["result"]["protocolVersion"], version);
        let session = HttpTestSession { address: self.address, id, version, last: 0, notes: Vec::new() };
        let acknowledged =
            session.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).send().await;
        assert_eq!(acknowledged.status, 202);
        session
    }

    /// Stops the server and waits until it has stopped.
    pub async fn stop(self) {
        self.stop.cancel();
        timeout(TEST_TIMEOUT, self.serving).await.expect("the server is still running").unwrap().unwrap();
    }
}

#[derive(Clone)]
pub struct HttpTestRequest {
    address: SocketAddr,
    method: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
}

impl HttpTestRequest {
    /// Sets a header.
    pub fn with(self, name: &'static str, value: impl Into<String>) -> Self {
        let mut request = self.without(name);
        request.headers.push((name, value.into()));
        request
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub async fn send(self) -> HttpTestResponse {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{} {MCP_PATH} HTTP/1.1\r\nConnection: close\r\n", self.method);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        let bytes = [head.as_bytes(), b"\r\n", self.body.as_deref().unwrap_or_default()].concat();
        // The server may reject a request before reading it completely.
        let _ = stream.write_all(&bytes).await;
        HttpTestResponse::read(stream).await
    }
}

/// A session of an older revision.
pub struct HttpTestSession {
    address: SocketAddr,
    pub id: String,
    version: &'static str,
    last: i64,
    pub notes: Vec<Value>,
}

impl HttpTestSession {
    pub fn request_without_body(&self, method: &'static str) -> HttpTestRequest {
        let accept = "application/json, text/event-stream";
        let headers = vec![("Host", self.address.to_string()), ("Accept", accept.to_owned())];
        HttpTestRequest { address: self.address, method, headers, body: None }
            .with("Mcp-Session-Id", &self.id)
            .with("MCP-Protocol-Version", self.version)
    }

    pub fn post(&self, message: &Value) -> HttpTestRequest {
        let mut request = self.request_without_body("POST").with("Content-Type", "application/json");
        request.body = Some(message.to_string().into());
        request
    }

    /// Sends a request; returns the unread response and the id.
    pub async fn send_request(&mut self, method: &str, params: Value) -> (HttpTestResponse, i64) {
        self.last += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        (self.post(&message).send().await, self.last)
    }

    pub async fn notify(&self, method: &str, params: Value) {
        let response = self.post(&json!({"jsonrpc": "2.0", "method": method, "params": params})).send().await;
        assert_eq!(response.status, 202);
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let (mut reply, id) = self.send_request(method, params).await;
        reply.expect_status(200).await;
        loop {
            let message = reply.message().await;
            if message.get("method").is_none() {
                assert_eq!(message["id"], id);
                return message;
            }
            self.notes.push(message);
        }
    }

    /// Sends a request, answers the request of the server with this method, and returns the result.
    pub async fn result_with_answer(&mut self, params: Value, method: &str, answer: Value) -> Value {
        let (mut reply, id) = self.send_request("tools/call", params).await;
        loop {
            let mut message = reply.message().await;
            if message["method"] == method {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": answer});
                assert_eq!(self.post(&answer).send().await.status, 202);
            } else if message["id"] == id {
                return message["result"].take();
            }
        }
    }

    pub async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params).await;
        assert!(response.get("error").is_none(), "{response}");
        response["result"].take()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Opens the standalone stream.
    pub async fn listen(&self) -> HttpTestResponse {
        let reply = self.request_without_body("GET").send().await;
        assert_eq!(reply.status, 200);
        reply
    }

    /// Ends the session.
    pub async fn delete(self) {
        assert_eq!(self.request_without_body("DELETE").send().await.status, 202);
    }
}
