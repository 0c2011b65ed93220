//! Whether the server is well, for those who run it.

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::about::NOT_IN_FORCE;
use crate::app::App;
use crate::problem::{Answer, Problem};

/// How it is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
    /// That the configuration has errors, and the last valid one stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<&'static str>,
}

/// Whether the process answers.
#[utoipa::path(get, path = "/healthz", tag = "operations", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok", configuration: None })
}

/// Whether requests should be sent here: not while it is being stopped, nor while the store is away.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, body = Health), (status = 503, body = Problem)))]
pub(crate) async fn readyz(State(app): State<App>) -> Answer<Json<Health>> {
    if app.stop.is_cancelled() {
        return Err(Problem::new(ErrorCode::Unavailable, "the server is being stopped"));
    }
    app.store.check().await?;
    let configuration = app.live.error().map(|_| NOT_IN_FORCE);
    Ok(Json(Health { status: "ok", configuration }))
}
