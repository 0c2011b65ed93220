//! A server that runs on a free port of this machine, and ways to talk to it that no client library would take.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use prowess::{Progress, Registry, Surroundings};
use prowess_chat::store::{Address, Store, open};
use prowess_config::{Inputs, load_strictly};
use prowess_mcp::http::Token;
use prowess_server::{Guard, Options, Parts, Server};
use prowess_tools::Runner;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A token of users.
pub const USER: &str = "user-0123456789abcdef";

/// One of administrators.
pub const ADMIN: &str = "admin-0123456789abcdef";

/// A server that runs. It is stopped when it is dropped.
pub struct Running {
    pub at: SocketAddr,
    pub stop: CancellationToken,
    pub store: Arc<dyn Store>,
    pub http: reqwest::Client,
    served: JoinHandle<()>,
    folder: tempfile::TempDir,
}

/// With what users and administrators show.
pub fn with_tokens() -> Options {
    let token = |text| Some(Token::new(text).unwrap());
    let guard = Guard { token: token(USER), admin_token: token(ADMIN), ..Guard::default() };
    Options { guard, ..Options::default() }
}

impl Running {
    /// With an empty home and no model.
    pub async fn start(options: Options) -> Self {
        Self::configured("", options).await
    }

    /// With this configuration of the user's.
    pub async fn configured(toml: &str, options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            project: folder.path().join("project"),
            home: Some(folder.path().join("home")),
            path: Default::default(),
        };
        std::fs::create_dir_all(folder.path().join("home/.prowess")).unwrap();
        std::fs::create_dir_all(folder.path().join("project")).unwrap();
        std::fs::write(folder.path().join("home/.prowess/config.toml"), toml).unwrap();
        let store = open(&Address::of(&surroundings, None).unwrap()).await.unwrap();
        let load = move || {
            let configuration = load_strictly(&Inputs::new(surroundings.clone()))?;
            let policy = configuration.policy.clone();
            let registry = Registry::open_in(policy, surroundings.clone(), &Progress::default());
            Ok(Parts { configuration, registry: Arc::new(registry), runner: Runner::default() })
        };
        let stop = CancellationToken::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let server = Server::new(Box::new(load), store.clone(), options, stop.clone()).unwrap();
        let served = tokio::spawn(async move { server.serve(listener).await.unwrap() });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { at, stop, store, http, served, folder }
    }

    /// Replaces the user's configuration in one step: a server that reads it in between finds the old one or the new one.
    pub fn configure(&self, toml: &str) {
        let path = self.folder.path().join("home/.prowess/config.toml");
        let staged = path.with_extension("staged");
        std::fs::write(&staged, toml).unwrap();
        std::fs::rename(staged, path).unwrap();
    }

    /// Puts a file below the home.
    pub fn home_file(&self, path: &str, text: &str) {
        let path = self.folder.path().join("home").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
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

    /// A new chat.
    pub async fn chat(&self) -> String {
        let chat: Value = self.post("/api/chats", &json!({})).await.json().await.unwrap();
        chat["id"].as_str().unwrap().to_owned()
    }

    /// A connection that nobody has said anything on.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.at).await.unwrap()
    }

    /// These bytes, and all that is answered until the connection is closed.
    pub async fn raw(&self, bytes: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        rest(&mut stream).await
    }

    /// A request of these lines; the status of the answer, 0 where there is none.
    pub async fn status(&self, lines: &[&str]) -> u16 {
        let text = self.raw(&format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"))).await;
        text.split(' ').nth(1).map_or(0, |status| status.parse().unwrap())
    }

    /// As a signal would, and waits for the end.
    pub async fn end(self) -> Arc<dyn Store> {
        self.stop.cancel();
        self.served.await.unwrap();
        self.store
    }
}

/// All that is said until the connection is closed.
pub async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// A model that says one word, and the rest only when it is told to. Answers with its base URL and what to tell it with.
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

/// The configuration that talks to it.
pub fn talking_to(base: &str) -> String {
    format!("chat.provider = \"openai-chat\"\nchat.model = \"model-1\"\nchat.base-url = \"{base}\"\n")
}

/// Waits until something is so.
pub async fn until<F: Future<Output = bool>>(mut so: impl FnMut() -> F) {
    for _ in 0..400 {
        if so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it has not become so in ten seconds");
}
