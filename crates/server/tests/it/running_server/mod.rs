//! A server on a free local port, and raw requests that no client library would send.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use prowess::{HostEnv, Registry, ScanProgress};
use prowess_chat::store::{Store, StoreAddress, open};
use prowess_config::{ConfigInputs, load_strict};
use prowess_mcp::http::AccessToken;
use prowess_server::{Guard, Server, ServerOptions, ServerParts};
pub use prowess_testing::wait::wait_until;
use prowess_tools::ScriptRunner;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The token of users.
pub const USER: &str = "user-0123456789abcdef";

/// The token of administrators.
pub const ADMIN: &str = "admin-0123456789abcdef";

/// A running server.
pub struct RunningServer {
    pub at: SocketAddr,
    pub stop: CancellationToken,
    pub store: Arc<dyn Store>,
    pub http: reqwest::Client,
    served: JoinHandle<()>,
    pub temp_dir: tempfile::TempDir,
}

/// Returns options with both tokens.
pub fn with_tokens() -> ServerOptions {
    let token = |text| Some(AccessToken::parse(text).unwrap());
    let guard = Guard { token: token(USER), admin_token: token(ADMIN), ..Guard::default() };
    ServerOptions { guard, ..ServerOptions::default() }
}

impl RunningServer {
    /// Starts a server with an empty home directory and no model.
    pub async fn start(options: ServerOptions) -> Self {
        Self::configured("", options).await
    }

    /// Starts a server with this user configuration.
    pub async fn configured(toml: &str, options: ServerOptions) -> Self {
        let temp_dir = tempfile::tempdir().unwrap();
        let host = HostEnv {
            project: temp_dir.path().join("project"),
            home: Some(temp_dir.path().join("home")),
            path: Default::default(),
        };
        std::fs::create_dir_all(temp_dir.path().join("home/.prowess")).unwrap();
        std::fs::create_dir_all(temp_dir.path().join("project")).unwrap();
        std::fs::write(temp_dir.path().join("home/.prowess/config.toml"), toml).unwrap();
        let store = open(&StoreAddress::resolve(&host, None).unwrap()).await.unwrap();
        let load = move || {
            let configuration = load_strict(&ConfigInputs::new(host.clone()))?;
            let policy = configuration.policy.clone();
            let registry = Registry::open_in(policy, host.clone(), &ScanProgress::default());
            Ok(ServerParts { configuration, registry: Arc::new(registry), runner: ScriptRunner::default() })
        };
        let stop = CancellationToken::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let server = Server::new(Box::new(load), store.clone(), options, stop.clone()).unwrap();
        let served = tokio::spawn(async move { server.serve(listener).await.unwrap() });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { at, stop, store, http, served, temp_dir }
    }

    /// Replaces the user configuration atomically, so that the server never reads an empty file.
    pub fn configure(&self, toml: &str) {
        let path = self.temp_dir.path().join("home/.prowess/config.toml");
        let staged = path.with_extension("staged");
        std::fs::write(&staged, toml).unwrap();
        std::fs::rename(staged, path).unwrap();
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    pub async fn get(&self, path: &str) -> reqwest::Response {
        self.http.get(self.url(path)).send().await.unwrap()
    }

    pub async fn post(&self, path: &str, body: &Value) -> reqwest::Response {
        self.http.post(self.url(path)).json(body).send().await.unwrap()
    }

    /// Creates a chat.
    pub async fn chat(&self) -> String {
        let chat: Value = self.post("/api/chats", &json!({})).await.json().await.unwrap();
        chat["id"].as_str().unwrap().to_owned()
    }

    /// Opens a connection.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.at).await.unwrap()
    }

    /// Sends bytes, and returns the response until the connection closes.
    pub async fn raw(&self, bytes: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        rest(&mut stream).await
    }

    /// Sends a request with these lines, and returns the status; 0 without a response.
    pub async fn status(&self, lines: &[&str]) -> u16 {
        let text = self.raw(&format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"))).await;
        text.split(' ').nth(1).map_or(0, |status| status.parse().unwrap())
    }

    /// Stops the server like a signal would, and waits until it has ended.
    pub async fn end(self) -> Arc<dyn Store> {
        self.stop.cancel();
        self.served.await.unwrap();
        self.store
    }
}

/// Reads until the connection closes.
pub async fn rest(stream: &mut TcpStream) -> String {
    let mut response = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut response)).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

/// Starts a model that streams one word, and the rest when a permit is added. Returns its base URL and the semaphore.
pub async fn slow_model() -> (String, Arc<tokio::sync::Semaphore>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let go = Arc::new(tokio::sync::Semaphore::new(0));
    let wait = Arc::clone(&go);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let wait = Arc::clone(&wait);
            tokio::spawn(async move {
                let mut head = [0; 16 * 1024];
                let _ = stream.read(&mut head).await;
                let chunk = |delta: Value, end: Value| {
                    let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
                    format!("data: {chunk}\n\n")
                };
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                let first = chunk(json!({"content": "One"}), Value::Null);
                let _ = stream.write_all(format!("{head}{first}").as_bytes()).await;
                wait.acquire().await.unwrap().forget();
                let last = chunk(json!({"content": " two."}), json!("stop"));
                let _ = stream.write_all(format!("{last}data: [DONE]\n\n").as_bytes()).await;
            });
        }
    });
    (base, go)
}

/// Returns a configuration that uses the model at this URL.
pub fn model_config(base: &str) -> String {
    format!("chat.provider = \"openai-chat\"\nchat.model = \"model-1\"\nchat.base-url = \"{base}\"\n")
}
