//! A scripted server that uses the official SDK, over stdio and HTTP.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use rmcp::model::{
    CustomRequest, CustomResult, ErrorCode, ErrorData, JsonObject, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServiceExt};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::ServerScript;

#[derive(Debug, Clone)]
pub struct ScriptedHandler(ServerScript);

impl ServerHandler for ScriptedHandler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_resources().build();
        if !self.0.has_fault("no extension") {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert("io.modelcontextprotocol/skills".to_owned(), JsonObject::new());
        }
        ServerConfig::new(capabilities)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.0.read()["version"].as_str() {
            None => Cow::from(ProtocolVersion::KNOWN_VERSIONS),
            Some(wanted) => {
                let known =
                    ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.as_str() == wanted);
                Cow::from(known.cloned().collect::<Vec<_>>())
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        let text = |key: &str| params[key].as_str().unwrap_or_default().to_owned();
        self.0.log(format!("{} {}{}", request.method, text("uri"), text("cursor")).trim_end());
        let fault = |fault: &str| self.0.has_fault(fault);
        if fault("hangs") {
            tokio::time::sleep(Duration::from_secs(600)).await;
        }
        let ttl = self.0.read()["ttl"].as_u64().unwrap_or(0);
        match request.method.as_str() {
            "skills/list" => {
                if fault("crashes while listing") {
                    std::process::exit(3);
                }
                if fault("rejects listing") {
                    return Err(ErrorData::internal_error("\u{1b}[31mno skills today", None));
                }
                if fault("notifies of changes") {
                    let _ = context.peer.notify_resource_list_changed().await;
                }
                Ok(CustomResult::new(self.page(&text("cursor"), ttl)))
            }
            "skills/get" => {
                let found =
                    self.0.entries(true).into_iter().find(|entry| entry["uri"] == text("uri").as_str());
                let found =
                    found.ok_or_else(|| ErrorData::invalid_params("No skill is served there", None))?;
                Ok(CustomResult::new(
                    json!({"resultType": "complete", "skill": found, "ttlMs": ttl, "cacheScope": "private"}),
                ))
            }
            method => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None)),
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.0.log(&format!("resources/read {}", request.uri));
        let fault = |fault: &str| self.0.has_fault(fault);
        if fault("hangs while reading") {
            tokio::time::sleep(Duration::from_secs(600)).await;
        }
        if fault("crashes while reading") {
            // Only once: the next process must not crash.
            let mut script = self.0.read();
            script["fault"] = Value::Null;
            self.0.write(&script);
            std::process::exit(3);
        }
        let text = self.0.content(&request.uri);
        let text = text.ok_or_else(|| ErrorData::invalid_params("There is no such resource", None))?;
        let blob = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let content = match self.0.read()["fault"].as_str() {
            Some("returns blobs") => ResourceContents::blob(blob(&text), &request.uri),
            Some("returns invalid base64") => ResourceContents::blob("%%%", &request.uri),
            Some("returns another file") => ResourceContents::text(text, "skill://other/SKILL.md"),
            _ => ResourceContents::text(text, &request.uri),
        };
        let contents =
            if fault("returns two contents") { vec![content.clone(), content] } else { vec![content] };
        Ok(ReadResourceResult::new(contents).into())
    }
}

impl ScriptedHandler {
    fn page(&self, cursor: &str, ttl: u64) -> Value {
        let entries = self.0.entries(false);
        let from: usize = cursor.parse().unwrap_or(0);
        let size = usize::try_from(self.0.read()["page"].as_u64().unwrap_or(1_000)).unwrap();
        let page: Vec<_> = entries.iter().skip(from).take(size).cloned().collect();
        let mut result =
            json!({"resultType": "complete", "skills": page, "ttlMs": ttl, "cacheScope": "private"});
        if from + size < entries.len() {
            result["nextCursor"] = json!((from + size).to_string());
        }
        match self.0.read()["fault"].as_str() {
            Some("lists no array") => result["skills"] = json!("none"),
            Some("incomplete result") => result["resultType"] = json!("partial"),
            Some("endless pages") => result["nextCursor"] = json!((from + 1).to_string()),
            Some("circular pages") => result["nextCursor"] = json!("0"),
            Some("endless list") => result["skills"] = json!(vec![entries[0].clone(); 20_000]),
            _ => {}
        }
        result
    }
}

/// Serves over standard streams until they are closed.
pub fn serve_stdio(script: &ServerScript) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let transport = (tokio::io::stdin(), tokio::io::stdout());
        if let Ok(service) = ScriptedHandler(script.clone()).serve(transport).await {
            let _ = service.waiting().await;
        }
    });
}

/// An HTTP server that ends with the test.
pub struct HttpServer {
    pub url: String,
    _runtime: tokio::runtime::Runtime,
}

/// Serves over HTTP on a free port, with an optional token.
pub fn serve_http(script: &ServerScript, token: Option<&str>, json_response: bool) -> HttpServer {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let scripted = ScriptedHandler(script.clone());
    let mut config = StreamableHttpServerConfig::default();
    config.json_response = json_response;
    config.legacy_session_mode = !json_response;
    let service = StreamableHttpService::new(
        move || Ok(scripted.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let token = token.map(|token| format!("Bearer {token}"));
    let admit = move |request: axum::extract::Request, next: axum::middleware::Next| {
        let authorization =
            request.headers().get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let is_authorized = token.is_none() || authorization == token;
        async move {
            match is_authorized {
                true => next.run(request).await,
                false => axum::response::IntoResponse::into_response(axum::http::StatusCode::UNAUTHORIZED),
            }
        }
    };
    let router = axum::Router::new().nest_service("/mcp", service).layer(axum::middleware::from_fn(admit));
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    runtime.spawn(async move { axum::serve(listener, router).await });
    HttpServer { url, _runtime: runtime }
}
