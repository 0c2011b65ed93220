//! The router and the OpenAPI description.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router, middleware};
use prowess::ErrorCode;
use prowess_mcp::http::OwnerRequest;
use serde_json::Value;
use tower::ServiceExt;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::guard::{self, Access, Guard, GuardState};
use crate::problem::Problem;
use crate::{about, chats, compress, events, model, operations, page, render, settings, skills, transfer};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Prowess",
        description = "Agent skills and chats over HTTP.",
        license(name = "MIT OR Apache-2.0")
    ),
    components(schemas(Problem))
)]
struct ApiDoc;

/// Returns the routes that the OpenAPI description covers, with their handlers.
fn described_routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .routes(routes!(about::about))
        .routes(routes!(guard::sign_in, guard::sign_out))
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
        .routes(routes!(events::events))
        .routes(routes!(render::render))
        .routes(routes!(transfer::export_chat))
        .routes(routes!(transfer::export_chats))
        .routes(routes!(transfer::import_chats))
        .merge(chats::routes())
        .merge(skills::routes())
        .merge(settings::routes())
        .merge(model::routes())
}

/// Returns the OpenAPI description of the API, as served at `/openapi.json`.
pub fn openapi() -> Value {
    crate::openapi::complete(described_routes().into_openapi())
}

/// Returns the complete router, with authentication, logging and compression.
pub(crate) fn router(app: App, guard: Guard) -> Router {
    let (routes, description) = described_routes().split_for_parts();
    let description = Arc::new(crate::openapi::complete(description));
    routes
        .route("/openapi.json", get(move || async move { Json(&*description).into_response() }))
        .route(prowess_mcp::http::MCP_PATH, any(mcp))
        .merge(page::routes())
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(Arc::new(GuardState::new(app.clone(), guard)), guard::guard))
        .layer(middleware::from_fn_with_state(app.clone(), operations::observe))
        // Compression is the outermost layer because `observe` may rewrite bodies.
        .layer(compress::layer())
        .with_state(app)
}

/// Forwards MCP requests to the MCP server of the current skills.
async fn mcp(State(app): State<App>, access: Access, mut request: Request) -> Response {
    // Others must not decide that scripts run, nor name directories of this machine.
    if app.turns.asks_consent() && access == Access::Admin {
        request.extensions_mut().insert(OwnerRequest);
    }
    let Ok(response) = app.reloadable.current().mcp.clone().oneshot(request).await;
    response
}

async fn not_found(request: Request) -> Problem {
    Problem::new(ErrorCode::NotFound, format!("no such path: {}", request.uri().path()))
}

async fn method_not_allowed(method: Method) -> Problem {
    let detail = format!("method {method} is not allowed here");
    Problem::with_status(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::InvalidParam, detail)
}
