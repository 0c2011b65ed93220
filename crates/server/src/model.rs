//! Sets up the model of chats from the page.
//!
//! Invariants: a stored key is sent only to the address for which it was entered, so a change of the provider or the address
//! requires the key again. A key is stored in a file that only the user can read, and is never returned.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use futures_util::future::join_all;
use prowess::ErrorCode;
use prowess::format::Value as Setting;
use prowess_chat::provider::{ModelSetupError, ProviderEndpoint, Secret};
use prowess_chat::store::Topic;
use prowess_config::{ChatProvider, ChatSettings, ConfigLayer};
use prowess_package::settings::{user_settings_file, write_settings};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::extract::JsonBody;
use crate::guard::Admin;
use crate::problem::{ApiResult, FieldProblem, Problem};

/// How long a provider may take to list its models.
const LIST_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a server on this machine may take.
const LOCAL_TIMEOUT: Duration = Duration::from_millis(800);

/// Programs that serve models on this machine, and their usual ports.
const LOCAL_SERVERS: [(&str, u16); 4] =
    [("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)];

/// The variable under which a key that was just entered is looked up; the environment is not used.
const ENTERED_KEY: &str = "ENTERED_KEY";

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(get, set)).routes(routes!(test)).routes(routes!(local))
}

/// The model of chats.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModelSetup)]
pub(crate) struct ModelResponse {
    schema: u32,
    /// The provider: `rehearsal`, `anthropic`, `openai` or `openai-chat`.
    provider: &'static str,
    /// The address, if it is not the provider's own.
    base_url: Option<String>,
    /// The name of the model.
    model: Option<String>,
    /// Where the key is: `variable`, `file` or `none`.
    key: &'static str,
}

/// Returns the model of chats, without its key. For administrators.
#[utoipa::path(get, path = "/api/model", tag = "settings", responses((status = 200, body = ModelResponse)))]
pub(crate) async fn get(State(app): State<App>, _: Admin) -> Json<ModelResponse> {
    Json(current(&app))
}

fn current(app: &App) -> ModelResponse {
    let loaded = app.reloadable.current();
    let chat = &loaded.configuration.chat;
    let key = match (&chat.key_env, &chat.key_file) {
        (Some(_), _) => "variable",
        (None, Some(_)) => "file",
        (None, None) => "none",
    };
    ModelResponse {
        schema: 1,
        provider: chat.provider.as_str(),
        base_url: chat.base_url.clone(),
        model: chat.model.clone(),
        key,
    }
}

/// A model to set up.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ModelChange)]
pub(crate) struct ModelRequest {
    /// The provider: `anthropic`, `openai` or `openai-chat`.
    provider: String,
    /// The address, if it is not the provider's own.
    #[schema(max_length = 2000)]
    base_url: Option<String>,
    /// The name of the model.
    #[schema(max_length = 200)]
    model: Option<String>,
    /// The key. Without one, the stored key stays in use if provider and address do not change.
    #[schema(max_length = 4000)]
    key: Option<String>,
}

/// The result of a test.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModelTest)]
pub(crate) struct TestResponse {
    schema: u32,
    /// Whether the provider answered and accepts the key.
    ok: bool,
    /// What is wrong, for display.
    message: Option<String>,
    /// The names of the provider's models.
    models: Vec<String>,
}

/// Asks a provider for its models, to test its address and key. Nothing is stored. For administrators.
#[utoipa::path(post, path = "/api/model/test", tag = "settings", request_body = ModelRequest,
    responses((status = 200, body = TestResponse), (status = 400, body = Problem)))]
pub(crate) async fn test(
    State(app): State<App>,
    _: Admin,
    JsonBody(request): JsonBody<ModelRequest>,
) -> ApiResult<Json<TestResponse>> {
    let settings = request.to_settings(&app)?;
    let endpoint = request.endpoint(&settings)?;
    Ok(Json(match endpoint.list_models(LIST_TIMEOUT).await {
        Ok(models) => TestResponse { schema: 1, ok: true, message: None, models },
        Err(error) => TestResponse { schema: 1, ok: false, message: Some(error.to_string()), models: vec![] },
    }))
}

/// Sets the model of chats in the user's configuration, in force at once. For administrators.
#[utoipa::path(put, path = "/api/model", tag = "settings", request_body = ModelRequest,
    responses((status = 200, body = ModelResponse), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn set(
    State(app): State<App>,
    _: Admin,
    JsonBody(request): JsonBody<ModelRequest>,
) -> ApiResult<Json<ModelResponse>> {
    let settings = request.to_settings(&app)?;
    // The address and the key must be usable before anything is stored.
    request.endpoint(&settings)?;
    let model = request.model.clone().filter(|model| !model.trim().is_empty());
    let model = model.ok_or_else(|| invalid("model", "choose a model"))?;
    let work = app.clone();
    let stored = spawn_blocking(move || store(&work, &request, &settings, &model));
    stored.await.map_err(|error| Problem::new(ErrorCode::InternalError, error.to_string()))??;
    app.store.announce(Topic::Skills);
    Ok(Json(current(&app)))
}

/// Writes the key and the configuration, both or neither.
fn store(app: &App, request: &ModelRequest, settings: &ChatSettings, model: &str) -> ApiResult<()> {
    let loaded = app.reloadable.current();
    let inputs = loaded.configuration.inputs.clone();
    let dir = user_settings_file(&inputs)?.parent().map(|dir| dir.join("keys"));
    let text = |text: &str| Some(Setting::Text(text.into()));
    let mut changes = vec![
        ("chat.provider".to_owned(), text(settings.provider.as_str())),
        ("chat.model".to_owned(), text(model)),
        ("chat.base-url".to_owned(), settings.base_url.as_deref().and_then(text)),
    ];
    let mut key_file = None;
    if let Some(key) = &request.key {
        let dir = dir.clone().ok_or_else(|| Problem::invalid("there is no directory for the key"))?;
        let path = write_key(&dir, settings.provider, key)?;
        changes.push(("chat.key-file".to_owned(), text(&path.display().to_string())));
        changes.push(("chat.key-env".to_owned(), None));
        key_file = Some(path);
    } else if settings.key_file.is_none() && settings.key_env.is_none() {
        changes.push(("chat.key-file".to_owned(), None));
        changes.push(("chat.key-env".to_owned(), None));
    }
    let written =
        write_settings(&inputs, ConfigLayer::User, &changes).map_err(Problem::from).and_then(|change| {
            // A change that cannot be applied is reverted.
            app.reloadable.reload().map(drop).map_err(|error| {
                let revert = change.revert().map_or_else(|error| format!("; {error}"), |()| String::new());
                Problem::invalid(format!("the model was not changed: {error}{revert}"))
            })
        });
    // The file that is no longer used: the new one after an error, else the previous one if it was written here.
    let previous = loaded.configuration.chat.key_file.clone();
    let is_ours = |path: &PathBuf| dir.as_ref().is_some_and(|dir| path.parent() == Some(dir.as_path()));
    let unused = match &written {
        Ok(()) => previous.filter(is_ours).filter(|_| changes.iter().any(|(key, _)| key == "chat.key-file")),
        Err(_) => key_file,
    };
    if let Some(path) = unused {
        let _ = std::fs::remove_file(path);
    }
    written
}

fn write_key(dir: &Path, provider: ChatProvider, key: &str) -> ApiResult<PathBuf> {
    let path = dir.join(format!("{}-{}", provider.as_str(), uuid::Uuid::new_v4().simple()));
    let written = prowess_fs::create_private_dir_all(dir)
        .and_then(|()| prowess_fs::write_private(&path, format!("{key}\n").as_bytes()));
    written
        .map_err(|error| Problem::new(ErrorCode::ExecutionError, format!("cannot store the key: {error}")))?;
    Ok(path)
}

impl ModelRequest {
    /// Returns the settings of the current configuration with these changes.
    fn to_settings(&self, app: &App) -> ApiResult<ChatSettings> {
        let loaded = app.reloadable.current();
        let current = &loaded.configuration.chat;
        let known = [ChatProvider::Anthropic, ChatProvider::OpenAi, ChatProvider::OpenAiChat];
        let provider = known.into_iter().find(|provider| provider.as_str() == self.provider);
        let provider = provider.ok_or_else(unknown_provider)?;
        let base_url = self.base_url.clone().map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
        let is_same_address = current.provider == provider && current.base_url == base_url;
        let (key_env, key_file) = match (&self.key, is_same_address) {
            (Some(_), _) => (Some(ENTERED_KEY.to_owned()), None),
            (None, true) => (current.key_env.clone(), current.key_file.clone()),
            // A stored key is not sent to another address.
            (None, false) => (None, None),
        };
        Ok(ChatSettings {
            provider,
            base_url,
            key_env,
            key_file,
            model: self.model.clone(),
            ..current.clone()
        })
    }

    fn endpoint(&self, settings: &ChatSettings) -> ApiResult<ProviderEndpoint> {
        if let Some(key) = &self.key
            && Secret::new(key).is_none()
        {
            return Err(invalid(
                "key",
                "this is not a key: it is empty, too long or contains spaces or control characters",
            ));
        }
        let environment = |name: &str| match name {
            ENTERED_KEY => self.key.clone().map(OsString::from),
            name => std::env::var_os(name),
        };
        match ProviderEndpoint::resolve(settings, environment) {
            Ok(Some(endpoint)) => Ok(endpoint),
            Ok(None) => Err(unknown_provider()),
            Err(ModelSetupError::NoKey(_)) => Err(invalid("key", "enter the key of the provider")),
            Err(error @ (ModelSetupError::Secret(_) | ModelSetupError::TwoKeys)) => {
                Err(invalid("key", &error.to_string()))
            }
            Err(error) => Err(invalid("base_url", &error.to_string())),
        }
    }
}

fn unknown_provider() -> Problem {
    invalid("provider", "the provider must be anthropic, openai or openai-chat")
}

fn invalid(field: &str, message: &str) -> Problem {
    let mut problem = Problem::invalid(message);
    problem.errors.push(FieldProblem { field: field.to_owned(), message: message.to_owned() });
    problem
}

/// A server on this machine that offers models.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LocalServer)]
pub(crate) struct LocalServer {
    /// The program that usually has this port.
    name: &'static str,
    /// The address for `base_url`.
    base_url: String,
    /// The names of its models.
    models: Vec<String>,
}

/// The servers on this machine.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LocalServers)]
pub(crate) struct LocalResponse {
    schema: u32,
    servers: Vec<LocalServer>,
}

/// Looks for servers of models on the usual ports of the server's machine. For administrators.
#[utoipa::path(get, path = "/api/model/local", tag = "settings", responses((status = 200, body = LocalResponse)))]
pub(crate) async fn local(_: Admin) -> (StatusCode, Json<LocalResponse>) {
    let found = join_all(LOCAL_SERVERS.map(|(name, port)| find_local(name, port))).await;
    (StatusCode::OK, Json(LocalResponse { schema: 1, servers: found.into_iter().flatten().collect() }))
}

async fn find_local(name: &'static str, port: u16) -> Option<LocalServer> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let settings = ChatSettings {
        provider: ChatProvider::OpenAiChat,
        base_url: Some(base_url.clone()),
        ..ChatSettings::default()
    };
    let endpoint = ProviderEndpoint::resolve(&settings, |_| None).ok()??;
    let models = endpoint.list_models(LOCAL_TIMEOUT).await.ok()?;
    Some(LocalServer { name, base_url, models })
}
