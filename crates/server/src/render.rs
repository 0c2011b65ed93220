//! Markdown over HTTP.

use axum::Json;
use prowess::ErrorCode;
use prowess_chat::turn::MESSAGE_MAX;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::asked::Body;
use crate::markdown;
use crate::problem::{Answer, Problem};

/// A text in Markdown.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TextToRender)]
pub(crate) struct Written {
    /// The text, at most a mebibyte.
    text: String,
}

/// What a page shows of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rendered {
    /// HTML without scripts, pictures and raw HTML of the text's own.
    html: String,
}

/// Renders Markdown as HTML that can be put into a page as it is.
#[utoipa::path(post, path = "/api/render", tag = "operations", request_body = Written,
    responses((status = 200, body = Rendered)))]
pub(crate) async fn render(Body(Written { text }): Body<Written>) -> Answer<Json<Rendered>> {
    if text.len() > MESSAGE_MAX {
        let detail = format!("the text has {} bytes; at most {MESSAGE_MAX} are rendered", text.len());
        return Err(Problem::new(ErrorCode::TooLarge, detail));
    }
    let html = apart(move || markdown::render(&text)).await?;
    Ok(Json(Rendered { html }))
}

/// Work that takes a while, on a thread of its own.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Problem::new(ErrorCode::InternalError, format!("it broke off: {error}")))
}
