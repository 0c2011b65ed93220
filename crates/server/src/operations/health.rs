//! Health checks, for operators.

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::about::INVALID_CONFIGURATION;
use crate::app::App;
use crate::problem::{ApiResult, Problem};

/// The health of the server.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthResponse {
    /// Always `ok`.
    status: &'static str,
    /// Set if the configuration has errors and the last valid one stays active.
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<&'static str>,
}

/// Reports that the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "operations", security(()), responses((status = 200, body = HealthResponse)))]
pub(crate) async fn healthz() -> Json<HealthResponse> {
    Json(HealthResponse { status: "ok", configuration: None })
}

/// Reports whether the server accepts requests: not while it is stopping or while the store is unavailable.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, body = HealthResponse), (status = 503, body = Problem)))]
pub(crate) async fn readyz(State(app): State<App>) -> ApiResult<Json<HealthResponse>> {
    if app.stop.is_cancelled() {
        return Err(Problem::new(ErrorCode::Unavailable, "the server is stopping"));
    }
    app.store.check().await?;
    let configuration = app.reloadable.error().map(|_| INVALID_CONFIGURATION);
    Ok(Json(HealthResponse { status: "ok", configuration }))
}
