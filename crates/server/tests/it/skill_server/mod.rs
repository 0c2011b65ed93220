//! A local server with its own project and home directory, and requests to it.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use prowess::{HostEnv, Preset, Registry, ScanProgress};
use prowess_chat::store::{self, Store, StoreAddress};
use prowess_config::{ConfigInputs, load};
use prowess_mcp::http::AccessToken;
use prowess_package::FileUrls;
use prowess_server::{Guard, Server, ServerOptions, ServerParts};
use prowess_tools::ScriptRunner;
use reqwest::{Client, Method, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The tokens of users and administrators.
pub const USER: &str = "token-of-a-user-0123456789";
pub const ADMIN: &str = "token-of-an-admin-0123456789";

pub struct SkillServer {
    temp_dir: Arc<tempfile::TempDir>,
    preset: Preset,
    pub store: Arc<dyn Store>,
    base: String,
    client: Client,
    token: Option<&'static str>,
    stop: CancellationToken,
}

impl Drop for SkillServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Builds the project and home directory of a server.
pub struct ServerBuilder {
    temp_dir: Arc<tempfile::TempDir>,
    preset: Preset,
    guard: Guard,
    home: HomeDir,
}

/// Whether the user has a home directory.
#[derive(Clone, Copy, PartialEq)]
enum HomeDir {
    Present,
    Missing,
}

pub fn site(preset: Preset) -> ServerBuilder {
    let temp_dir = Arc::new(tempfile::tempdir().unwrap());
    for name in ["project", "home", "bin"] {
        fs::create_dir(temp_dir.path().join(name)).unwrap();
    }
    ServerBuilder { temp_dir, preset, guard: Guard::default(), home: HomeDir::Present }
}

pub fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\nDo it.\n")
}

fn path(temp_dir: &tempfile::TempDir, inner: &str) -> PathBuf {
    let top = temp_dir.path().canonicalize().unwrap();
    match inner.strip_prefix("~/") {
        Some(inner) => top.join("home").join(inner),
        None => top.join("project").join(inner),
    }
}

fn write(path: PathBuf, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

impl ServerBuilder {
    pub fn file(self, inner: &str, content: impl AsRef<[u8]>) -> Self {
        write(path(&self.temp_dir, inner), content.as_ref());
        self
    }

    pub fn skill(self, dir: &str) -> Self {
        let name = dir.rsplit('/').next().unwrap();
        let text = skill_md(name, &format!("Does {name}."));
        self.file(&format!("{dir}/SKILL.md"), text)
    }

    /// Requires a token for users and one for administrators.
    pub fn with_tokens(mut self) -> Self {
        self.guard.token = Some(AccessToken::parse(USER).unwrap());
        self.guard.admin_token = Some(AccessToken::parse(ADMIN).unwrap());
        self
    }

    /// Starts the server for a user without a home directory.
    pub fn without_home(mut self) -> Self {
        self.home = HomeDir::Missing;
        self
    }

    pub async fn start(self) -> SkillServer {
        let store =
            store::open(&StoreAddress::File(self.temp_dir.path().join("chats.sqlite3"))).await.unwrap();
        self.start_on(store).await
    }

    async fn start_on(self, store: Arc<dyn Store>) -> SkillServer {
        let Self { temp_dir, preset, guard, home } = self;
        let host = HostEnv {
            project: path(&temp_dir, "").components().collect(),
            home: (home == HomeDir::Present).then(|| path(&temp_dir, "~/").components().collect()),
            path: temp_dir.path().join("bin").into(),
        };
        let enabled = ("PROWESS_SKILLS_ENABLED".to_owned(), "true".to_owned());
        let environment = Vec::from_iter((preset == Preset::Chat).then_some(enabled));
        // The user's file may set another preset.
        let preset_flag = (preset != Preset::Standard).then_some(preset);
        let inputs = ConfigInputs { preset: preset_flag, environment, ..ConfigInputs::new(host.clone()) };
        let load = move || {
            let configuration = load(&inputs);
            let policy = configuration.policy.clone();
            let registry = Registry::open_in(policy, inputs.host.clone(), &ScanProgress::default());
            Ok(ServerParts { configuration, registry: Arc::new(registry), runner: ScriptRunner::default() })
        };
        let stop = CancellationToken::new();
        let options = ServerOptions { guard, file_urls: FileUrls::Allowed, ..ServerOptions::default() };
        let server = Server::new(Box::new(load), Arc::clone(&store), options, stop.clone()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(server.serve(listener));
        // The client requires a TLS provider even without TLS.
        let _ = rustls::crypto::ring::default_provider().install_default();
        SkillServer { temp_dir, preset, store, base, client: Client::new(), token: None, stop }
    }
}

impl SkillServer {
    /// Starts another server on the same directories and store.
    pub async fn second(&self) -> SkillServer {
        let plan = ServerBuilder {
            temp_dir: Arc::clone(&self.temp_dir),
            preset: self.preset,
            guard: Guard::default(),
            home: HomeDir::Present,
        };
        plan.start_on(Arc::clone(&self.store)).await
    }

    /// Sends this token with all following requests.
    pub fn use_token(&mut self, token: &'static str) -> &mut Self {
        self.token = Some(token);
        self
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        path(&self.temp_dir, inner)
    }

    pub fn file(&self, inner: &str, content: impl AsRef<[u8]>) {
        write(self.path(inner), content.as_ref());
    }

    pub fn text(&self, inner: &str) -> String {
        fs::read_to_string(self.path(inner)).unwrap_or_default()
    }

    fn request(&self, method: Method, inner: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}{inner}", self.base));
        match self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn raw(&self, inner: &str) -> Response {
        self.request(Method::GET, inner).send().await.unwrap()
    }

    pub async fn get_with(&self, inner: &str, header: &str, value: &str) -> Response {
        self.request(Method::GET, inner).header(header, value).send().await.unwrap()
    }

    pub async fn get(&self, inner: &str) -> (u16, Value) {
        status_and_json(self.raw(inner).await).await
    }

    pub async fn send(&self, method: &str, inner: &str, body: Value) -> (u16, Value) {
        let request = self.request(method.parse().unwrap(), inner);
        let request = if body.is_null() { request } else { request.json(&body) };
        status_and_json(request.send().await.unwrap()).await
    }

    /// Uploads bytes. With `must_be_new`, an existing file is kept.
    pub async fn upload(&self, inner: &str, bytes: &[u8], must_be_new: bool) -> (u16, Value) {
        let request = self.request(Method::PUT, inner).header("content-type", "application/octet-stream");
        let request = if must_be_new { request.header("if-none-match", "*") } else { request };
        status_and_json(request.body(bytes.to_vec()).send().await.unwrap()).await
    }

    /// Sends a form with fields and files.
    pub async fn form(&self, inner: &str, fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> (u16, Value) {
        let mut body = Vec::new();
        for (name, value) in fields {
            let part =
                format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend(part.into_bytes());
        }
        for (name, bytes) in files {
            let head = format!(
                "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
            );
            body.extend(head.into_bytes());
            body.extend(*bytes);
            body.extend(b"\r\n");
        }
        body.extend(b"--edge--\r\n");
        let request = self.request(Method::POST, inner).body(body);
        let request = request.header("content-type", "multipart/form-data; boundary=edge");
        status_and_json(request.send().await.unwrap()).await
    }

    /// Returns the ids of available skills.
    pub async fn available(&self) -> Vec<String> {
        let (status, list) = self.get("/api/skills").await;
        assert_eq!(status, 200, "{list}");
        list["skills"]
            .as_array()
            .unwrap()
            .iter()
            .map(|skill| skill["id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Returns a response as text, without the temporary directory.
    pub fn redacted(&self, (status, mut value): (u16, Value)) -> String {
        // An error response has a request id.
        if let Some(entries) = value.as_object_mut().filter(|_| status >= 400) {
            assert!(entries.remove("request_id").is_some());
        }
        // Features of other crates decide whether objects are sorted.
        value.sort_all_objects();
        let text = serde_json::to_string_pretty(&value).unwrap();
        let top = self.temp_dir.path().canonicalize().unwrap();
        format!("{status} {}", text.replace(top.to_str().unwrap(), "[DIR]"))
    }
}

async fn status_and_json(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    let bytes = response.bytes().await.unwrap();
    if bytes.is_empty() {
        return (status, Value::Null);
    }
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_else(|_| panic!("{bytes:?}"));
    let expected = if status >= 400 { "application/problem+json" } else { "application/json" };
    assert_eq!(kind.as_deref(), Some(expected), "{value}");
    (status, value)
}
