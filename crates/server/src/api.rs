//! Which request goes where, and the description of all of it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router, middleware};
use prowess::ErrorCode;
use serde_json::Value;
use tower::ServiceExt;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::guard::{self, Door, Guard};
use crate::problem::Problem;
use crate::{about, announce, chats, compress, describe, operate, page, render, settings, skills, transfer};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Prowess",
        description = "Agent skills and chats over HTTP.",
        license(name = "MIT OR Apache-2.0")
    ),
    components(schemas(Problem))
)]
struct Frame;

/// Everything that is described, with its handlers.
fn described() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Frame::openapi())
        .routes(routes!(about::about))
        .routes(routes!(guard::begin, guard::end))
        .routes(routes!(operate::healthz))
        .routes(routes!(operate::readyz))
        .routes(routes!(operate::metrics))
        .routes(routes!(announce::events))
        .routes(routes!(render::render))
        .routes(routes!(transfer::one))
        .routes(routes!(transfer::all))
        .routes(routes!(transfer::import))
        .merge(chats::routes())
        .merge(skills::routes())
        .merge(settings::routes())
}

/// The description of the interface, as OpenAPI; the same that `/openapi.json` answers.
pub fn description() -> Value {
    describe::complete(described().into_openapi())
}

/// The whole server behind its door.
pub(crate) fn router(app: App, guard: Guard) -> Router {
    let (routes, description) = described().split_for_parts();
    let description = Arc::new(describe::complete(description));
    routes
        .route("/openapi.json", get(move || async move { Json(&*description).into_response() }))
        .route(prowess_mcp::http::PATH, any(mcp))
        .merge(page::routes())
        .fallback(nothing)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(Arc::new(Door::new(app.clone(), guard)), guard::guard))
        .layer(middleware::from_fn_with_state(app.clone(), operate::observe))
        // Outside everything else: `observe` still writes bodies.
        .layer(compress::layer())
        .with_state(app)
}

/// Requests of MCP go to the server of the skills in force.
async fn mcp(State(app): State<App>, request: Request) -> Response {
    let Ok(response) = app.live.now().mcp.clone().oneshot(request).await;
    response
}

async fn nothing(request: Request) -> Problem {
    Problem::new(ErrorCode::NotFound, format!("there is nothing at {}", request.uri().path()))
}

async fn wrong_method(method: Method) -> Problem {
    let detail = format!("{method} is not answered here");
    Problem::with_status(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::InvalidParam, detail)
}
