//! The endpoint that renders Markdown.

use axum::Json;
use prowess::ErrorCode;
use prowess_chat::turn::MESSAGE_MAX;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::extract::JsonBody;
use crate::markdown;
use crate::problem::{ApiResult, Problem};

/// A Markdown text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TextToRender)]
pub(crate) struct RenderRequest {
    /// The text, at most 1 MiB.
    text: String,
}

/// The rendered text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Rendered)]
pub(crate) struct RenderResponse {
    /// HTML without scripts, images, or raw HTML from the text.
    html: String,
}

/// Renders Markdown as HTML that is safe to insert into a page.
#[utoipa::path(post, path = "/api/render", tag = "operations", request_body = RenderRequest,
    responses((status = 200, body = RenderResponse)))]
pub(crate) async fn render(
    JsonBody(RenderRequest { text }): JsonBody<RenderRequest>,
) -> ApiResult<Json<RenderResponse>> {
    if text.len() > MESSAGE_MAX {
        let detail = format!("the text has {} bytes; the maximum is {MESSAGE_MAX}", text.len());
        return Err(Problem::new(ErrorCode::TooLarge, detail));
    }
    let html = run_blocking(move || markdown::render(&text)).await?;
    Ok(Json(RenderResponse { html }))
}

/// Runs blocking or CPU-intensive work on the blocking thread pool.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<T> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|error| Problem::new(ErrorCode::InternalError, format!("the operation failed: {error}")))
}
