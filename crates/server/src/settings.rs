//! The settings in force, and changing the user's.

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use prowess::format::Value as Setting;
use prowess_chat::store::Topic;
use prowess_package::settings::{self, SettingsError};
use prowess_tools::shapes;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::asked::Body;
use crate::guard::{Access, Admin};
use crate::problem::{Answer, FieldError, Problem};
use crate::skills::{Hide, told};

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(get, change))
}

/// The settings in force, each with where it came from.
#[utoipa::path(get, path = "/api/settings", tag = "settings", responses((status = 200, body = told::Settings)))]
pub(crate) async fn get(State(app): State<App>, access: Access) -> Json<Value> {
    Json(shown(&app, access))
}

fn shown(app: &App, access: Access) -> Value {
    let loaded = app.live.now();
    let mut answer = shapes::settings(&loaded.configuration);
    for setting in answer["settings"].as_array_mut().into_iter().flatten() {
        let by_hand = setting["key"].as_str().is_some_and(settings::is_by_hand);
        setting["by_hand"] = by_hand.into();
    }
    if access != Access::Admin {
        Hide::new(&loaded.registry.snapshot(), loaded.registry.surroundings()).settings(&mut answer);
    }
    answer
}

/// Changes settings in the user's configuration: each key with its new value, or null to leave it to the preset again.
/// Comments and everything else in the file stay. What decides which code runs, where keys go or what is trusted is changed
/// in the file by hand.
#[utoipa::path(patch, path = "/api/settings", tag = "settings",
    request_body(content = Object, example = json!({"chat.provider": "anthropic"})),
    responses((status = 200, body = told::Settings), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn change(
    State(app): State<App>,
    _: Admin,
    Body(wanted): Body<Map<String, Value>>,
) -> Answer<Json<Value>> {
    let changes: Vec<(String, Option<Setting>)> = wanted
        .into_iter()
        .map(|(key, value)| Ok((key.clone(), setting(&key, value)?)))
        .collect::<Answer<_>>()?;
    let work = app.clone();
    let changed = spawn_blocking(move || -> Answer<()> {
        let inputs = work.live.now().configuration.inputs.clone();
        let changed = settings::change(&inputs, &changes)?;
        // What cannot be put into force is not kept.
        work.live.reload().map(drop).map_err(|error| {
            let back = changed.take_back().map_or_else(|error| format!("; {error}"), |()| String::new());
            Problem::invalid(format!("it was not changed: {error}{back}"))
        })
    });
    changed.await.map_err(|error| Problem::new(ErrorCode::InternalError, error.to_string()))??;
    app.store.announce(Topic::Skills);
    Ok(Json(shown(&app, Access::Admin)))
}

fn setting(key: &str, value: Value) -> Answer<Option<Setting>> {
    let wrong = || {
        let mut problem =
            Problem::invalid(format!("{key} takes a text, a number, true, false or a list of them"));
        problem.errors.push(FieldError { field: key.to_owned(), message: problem.detail.clone() });
        problem
    };
    Ok(match value {
        Value::Null => None,
        Value::Bool(truth) => Some(Setting::Bool(truth)),
        Value::Number(number) => Some(Setting::Number(number.to_string().into())),
        Value::String(text) => Some(Setting::Text(text.into())),
        Value::Array(items) => {
            let item = |item: Value| setting(key, item)?.ok_or_else(wrong);
            Some(Setting::List(items.into_iter().map(item).collect::<Answer<_>>()?))
        }
        Value::Object(_) => return Err(wrong()),
    })
}

impl From<SettingsError> for Problem {
    fn from(error: SettingsError) -> Self {
        let mut problem = Self::new(error.code(), error.to_string());
        let field = match &error {
            SettingsError::NoKey(key) | SettingsError::ByHand(key) => Some(key),
            SettingsError::Value { key, .. } | SettingsError::Overruled { key, .. } => Some(key),
            _ => None,
        };
        problem.errors.extend(field.map(|key| FieldError { field: key.clone(), message: error.to_string() }));
        problem
    }
}
