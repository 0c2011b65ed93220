//! Servers on a free local port, and an HTTP client for them.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

pub mod process;
pub mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use prowess::{Preset, Registry, ScanProgress};
use prowess_chat::store::Store;
use prowess_config::{ChatProvider, ConfigInputs, load_strict};
use prowess_server::{LoadError, Server, ServerOptions, ServerParts};
use prowess_testing::TestEnv;
pub use prowess_testing::both;
pub use prowess_testing::store::TestStore;
pub use prowess_testing::wait::wait_until;
use prowess_tools::ScriptRunner;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use stream::Events;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Starts servers on a store.
pub trait ServeChats {
    /// Starts a server with its own connections, like one on another machine.
    async fn serve(&self, env: &TestEnv) -> ChatServer;
}

impl ServeChats for TestStore {
    async fn serve(&self, env: &TestEnv) -> ChatServer {
        ChatServer::start(env, self.open().await, ServerOptions::default()).await
    }
}

/// Returns a project that uses a local model server, without a key and without retries.
pub fn project_with_model(preset: Preset, provider: ChatProvider, base: &str) -> TestEnv {
    let mut env = TestEnv::new(preset).with_provider(provider, base);
    env.chat.key_env = None;
    env.chat.limits.retries = 0;
    env
}

/// Returns a function that loads the configuration of a project.
pub fn parts(env: &TestEnv) -> impl Fn() -> Result<ServerParts, LoadError> + Send + Sync + use<> {
    let (policy, chat, mut host) = (env.policy.clone(), env.chat.clone(), env.host_env());
    host.path = std::env::var_os("PATH").unwrap_or_default();
    move || {
        let mut configuration = load_strict(&ConfigInputs::new(host.clone()))?;
        configuration.policy = policy.clone();
        configuration.chat = chat.clone();
        let registry = Registry::open_in(policy.clone(), host.clone(), &ScanProgress::default());
        Ok(ServerParts { configuration, registry: Arc::new(registry), runner: ScriptRunner::default() })
    }
}

/// A running server. It stops on drop.
pub struct ChatServer {
    pub client: Client,
    pub store: Option<Arc<dyn Store>>,
    pub stop: CancellationToken,
    served: Option<JoinHandle<()>>,
}

impl ChatServer {
    pub async fn start(env: &TestEnv, store: Arc<dyn Store>, options: ServerOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let server = Server::new(Box::new(parts(env)), Arc::clone(&store), options, stop.clone()).unwrap();
        let served = tokio::spawn(async move { server.serve(listener).await.unwrap() });
        Self { client: Client::new(at), store: Some(store), stop, served: Some(served) }
    }

    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self.store.as_ref().unwrap())
    }

    /// Stops the server like a signal would, and waits until it has ended.
    pub async fn end(&mut self) {
        self.stop.cancel();
        self.served.take().unwrap().await.unwrap();
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl std::ops::Deref for ChatServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// A client of a server.
#[derive(Clone)]
pub struct Client {
    pub base: String,
    http: reqwest::Client,
}

impl Client {
    pub fn new(at: SocketAddr) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { base: format!("http://{at}"), http }
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    pub async fn get(&self, path: &str) -> Value {
        let response = self.request(Method::GET, path).send().await.unwrap();
        let status = response.status();
        let body = response.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    pub async fn post(&self, path: &str, body: &Value) -> Response {
        self.request(Method::POST, path).json(body).send().await.unwrap()
    }

    /// Creates a chat.
    pub async fn chat(&self) -> String {
        let response = self.post("/api/chats", &json!({})).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        let chat: Value = response.json().await.unwrap();
        chat["id"].as_str().unwrap().to_owned()
    }

    /// Sends a message and returns the event stream.
    pub async fn say(&self, chat: &str, text: &str) -> Events {
        let path = format!("/api/chats/{chat}/messages");
        Events::of(self.post(&path, &json!({"text": text})).await).await
    }

    /// Follows a chat after this event.
    pub async fn follow(&self, chat: &str, after: u64) -> Events {
        let path = format!("/api/chats/{chat}/events?after={after}");
        Events::of(self.request(Method::GET, &path).send().await.unwrap()).await
    }

    pub async fn stop(&self, chat: &str) -> bool {
        let response = self.request(Method::POST, &format!("/api/chats/{chat}/stop")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response.json::<Value>().await.unwrap()["stopped"].as_bool().unwrap()
    }

    /// Returns the messages of a chat.
    pub async fn messages(&self, chat: &str) -> Vec<Value> {
        self.get(&format!("/api/chats/{chat}?limit=1000")).await["messages"].as_array().unwrap().clone()
    }

    /// Waits until no turn is running in a chat.
    pub async fn wait_until_idle(&self, chat: &str) -> Value {
        loop {
            let now = self.get(&format!("/api/chats/{chat}")).await;
            if now["writing"].is_null() {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Returns the status, code and detail of an error response.
pub async fn rejection(response: Response) -> (u16, String, String) {
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let body: Value = response.json().await.unwrap();
    assert_eq!((&body["type"], &body["status"]), (&json!("about:blank"), &json!(status)));
    let text = |key: &str| body[key].as_str().unwrap().to_owned();
    (status, text("code"), text("detail"))
}

/// Returns the text of a message.
pub fn message_text(message: &Value) -> String {
    message["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect()
}
