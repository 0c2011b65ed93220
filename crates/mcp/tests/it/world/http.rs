//! A client that writes its requests by hand.

use std::net::SocketAddr;

use prowess_mcp::Server;
use prowess_mcp::http::{HttpError, HttpOptions, PATH, serve};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub use super::reply::Reply;
use super::{NEWEST, PATIENCE, initialize, with_meta};

/// A server on a free port.
pub struct Site {
    pub address: SocketAddr,
    pub stop: CancellationToken,
    serving: JoinHandle<Result<(), HttpError>>,
}

impl Site {
    pub async fn open(server: &Server, options: HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop, server) =
            (listener.local_addr().unwrap(), CancellationToken::new(), server.clone());
        let ended = stop.clone();
        let serving = tokio::spawn(async move { serve(&server, listener, options, ended).await });
        Self { address, stop, serving }
    }

    pub async fn of(server: &Server) -> Self {
        Self::open(server, HttpOptions::default()).await
    }

    /// A request, not sent yet.
    pub fn request(&self, method: &'static str) -> Request {
        let accept = "application/json, text/event-stream";
        let headers = vec![("Host", self.address.to_string()), ("Accept", accept.to_owned())];
        Request { address: self.address, method, headers, body: None }
    }

    pub fn post(&self, body: impl Into<Vec<u8>>) -> Request {
        let mut request = self.request("POST").with("Content-Type", "application/json");
        request.body = Some(body.into());
        request
    }

    /// A request of the revision without sessions.
    pub fn inline(&self, id: i64, method: &str, params: Value) -> Request {
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": with_meta(params, NEWEST)});
        let name = ["name", "uri"].iter().find_map(|key| message["params"][*key].as_str()).map(str::to_owned);
        let request = self.post(message.to_string());
        let request = request.with("MCP-Protocol-Version", NEWEST).with("Mcp-Method", method);
        name.iter().fold(request, |request, name| request.with("Mcp-Name", name))
    }

    /// A session that began with a handshake.
    pub async fn session(&self, version: &'static str) -> Session {
        let message =
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize(version)});
        let mut reply = self.post(message.to_string()).send().await;
        reply.expect(200).await;
        let id = reply.header("mcp-session-id").expect("a session").to_owned();
        let began = reply.message().await;
        assert_eq!(began["result"]["protocolVersion"], version);
        let session = Session { address: self.address, id, version, last: 0, notes: Vec::new() };
        let told =
            session.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).send().await;
        assert_eq!(told.status, 202);
        session
    }

    /// Stops serving, and waits for it.
    pub async fn close(self) {
        self.stop.cancel();
        timeout(PATIENCE, self.serving).await.expect("it is still serving").unwrap().unwrap();
    }
}

#[derive(Clone)]
pub struct Request {
    address: SocketAddr,
    method: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    /// With a header, in place of one of the same name.
    pub fn with(self, name: &'static str, value: impl Into<String>) -> Self {
        let mut request = self.without(name);
        request.headers.push((name, value.into()));
        request
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// With another body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub async fn send(self) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{} {PATH} HTTP/1.1\r\nConnection: close\r\n", self.method);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        let bytes = [head.as_bytes(), b"\r\n", self.body.as_deref().unwrap_or_default()].concat();
        // Whoever is refused need not be heard to the end.
        let _ = stream.write_all(&bytes).await;
        Reply::read(stream).await
    }
}

/// A session of the older revisions.
pub struct Session {
    address: SocketAddr,
    pub id: String,
    version: &'static str,
    last: i64,
    pub notes: Vec<Value>,
}

impl Session {
    pub fn blank(&self, method: &'static str) -> Request {
        let accept = "application/json, text/event-stream";
        let headers = vec![("Host", self.address.to_string()), ("Accept", accept.to_owned())];
        Request { address: self.address, method, headers, body: None }
            .with("Mcp-Session-Id", &self.id)
            .with("MCP-Protocol-Version", self.version)
    }

    pub fn post(&self, message: &Value) -> Request {
        let mut request = self.blank("POST").with("Content-Type", "application/json");
        request.body = Some(message.to_string().into());
        request
    }

    /// The reply to a request before it is read, and the request's number.
    pub async fn ask(&mut self, method: &str, params: Value) -> (Reply, i64) {
        self.last += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        (self.post(&message).send().await, self.last)
    }

    pub async fn notify(&self, method: &str, params: Value) {
        let told = self.post(&json!({"jsonrpc": "2.0", "method": method, "params": params})).send().await;
        assert_eq!(told.status, 202);
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let (mut reply, id) = self.ask(method, params).await;
        reply.expect(200).await;
        loop {
            let message = reply.message().await;
            if message.get("method").is_none() {
                assert_eq!(message["id"], id);
                return message;
            }
            self.notes.push(message);
        }
    }

    pub async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// The stream of what comes without being asked for.
    pub async fn listen(&self) -> Reply {
        let reply = self.blank("GET").send().await;
        assert_eq!(reply.status, 200);
        reply
    }

    /// Ends it.
    pub async fn delete(self) {
        assert_eq!(self.blank("DELETE").send().await.status, 202);
    }
}
