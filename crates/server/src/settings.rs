//! The effective settings, and changes to the user's settings.

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use prowess::format::Value as Setting;
use prowess_chat::store::Topic;
use prowess_package::settings::{self, ChangeSettingsError};
use prowess_tools::json;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::extract::JsonBody;
use crate::guard::{Access, Admin};
use crate::problem::{ApiResult, FieldProblem, Problem};
use crate::skills::{PathRedactor, schemas};

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(get, change))
}

/// Returns the effective settings, each with its origin.
#[utoipa::path(get, path = "/api/settings", tag = "settings", responses((status = 200, body = schemas::SettingsResponse)))]
pub(crate) async fn get(State(app): State<App>, access: Access) -> Json<Value> {
    Json(render_settings(&app, access))
}

fn render_settings(app: &App, access: Access) -> Value {
    let loaded = app.reloadable.current();
    let mut value = json::settings_json(&loaded.configuration);
    for setting in value["settings"].as_array_mut().into_iter().flatten() {
        let by_hand = setting["key"].as_str().is_some_and(settings::is_manual_only);
        setting["by_hand"] = by_hand.into();
    }
    if access != Access::Admin {
        PathRedactor::new(&loaded.registry.snapshot(), loaded.registry.host()).redact_settings(&mut value);
    }
    value
}

/// Changes settings in the user's configuration file. Takes an object of keys and new values; null removes a setting. Comments
/// and other content of the file are preserved. Settings that control which code runs, where API keys are sent or what is trusted
/// can only be changed by editing the file.
#[utoipa::path(patch, path = "/api/settings", tag = "settings",
    request_body(content = Object, example = json!({"chat.provider": "anthropic"})),
    responses((status = 200, body = schemas::SettingsResponse), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn change(
    State(app): State<App>,
    _: Admin,
    JsonBody(requested): JsonBody<Map<String, Value>>,
) -> ApiResult<Json<Value>> {
    let changes: Vec<(String, Option<Setting>)> = requested
        .into_iter()
        .map(|(key, value)| Ok((key.clone(), parse_setting(&key, value)?)))
        .collect::<ApiResult<_>>()?;
    let work = app.clone();
    let changed = spawn_blocking(move || -> ApiResult<()> {
        let inputs = work.reloadable.current().configuration.inputs.clone();
        let changed = settings::change_settings(&inputs, &changes)?;
        // A change that cannot be applied is reverted.
        work.reloadable.reload().map(drop).map_err(|error| {
            let revert_error = changed.revert().map_or_else(|error| format!("; {error}"), |()| String::new());
            Problem::invalid(format!("the settings were not changed: {error}{revert_error}"))
        })
    });
    changed.await.map_err(|error| Problem::new(ErrorCode::InternalError, error.to_string()))??;
    app.store.announce(Topic::Skills);
    Ok(Json(render_settings(&app, Access::Admin)))
}

fn parse_setting(key: &str, value: Value) -> ApiResult<Option<Setting>> {
    let invalid_type = || {
        let mut problem =
            Problem::invalid(format!("{key} must be a string, a number, true, false or a list of these"));
        problem.errors.push(FieldProblem { field: key.to_owned(), message: problem.detail.clone() });
        problem
    };
    Ok(match value {
        Value::Null => None,
        Value::Bool(truth) => Some(Setting::Bool(truth)),
        Value::Number(number) => Some(Setting::Number(number.to_string().into())),
        Value::String(text) => Some(Setting::Text(text.into())),
        Value::Array(items) => {
            let item = |item: Value| parse_setting(key, item)?.ok_or_else(invalid_type);
            Some(Setting::List(items.into_iter().map(item).collect::<ApiResult<_>>()?))
        }
        Value::Object(_) => return Err(invalid_type()),
    })
}

impl From<ChangeSettingsError> for Problem {
    fn from(error: ChangeSettingsError) -> Self {
        let mut problem = Self::new(error.code(), error.to_string());
        let field = match &error {
            ChangeSettingsError::UnknownKey(key) | ChangeSettingsError::ManualOnly(key) => Some(key),
            ChangeSettingsError::InvalidValue { key, .. } | ChangeSettingsError::Overridden { key, .. } => {
                Some(key)
            }
            _ => None,
        };
        problem
            .errors
            .extend(field.map(|key| FieldProblem { field: key.clone(), message: error.to_string() }));
        problem
    }
}
