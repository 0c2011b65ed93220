//! All skills, written once for each state of them: what is sent is shared by all who ask.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, Snapshot, digest};
use prowess_tools::shapes::ListJson;
use serde::Deserialize;
use utoipa::IntoParams;

use super::hide::Hide;
use super::{blocking, told};
use crate::app::App;
use crate::asked::{Flag, Query};
use crate::cache::Page;
use crate::guard::Access;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// Which skills.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// With `1`, those that are not offered are there, too, each with the reason.
    #[serde(default)]
    #[param(value_type = Option<String>, example = "1")]
    all: Flag,
}

/// The skills that a model is offered, in the order of the catalog.
#[utoipa::path(get, path = "/api/skills", tag = "skills", params(Which),
    responses((status = 200, body = told::Skills), (status = 304, description = "as it was")))]
pub(crate) async fn list(
    State(app): State<App>,
    access: Access,
    Query(which): Query<Which>,
    headers: HeaderMap,
) -> Answer<Response> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let (all, admin) = (which.all.is_set(), access == Access::Admin);
    let page = match loaded.listed.get(&snapshot, all, admin) {
        Some(page) => page,
        None => {
            let loaded = Arc::clone(&loaded);
            blocking(move || make(&loaded, snapshot, all, admin)).await??
        }
    };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = known.flat_map(|line| line.split(',')).map(|tag| tag.trim().trim_start_matches("W/"));
    let is_known = tags.any(|tag| tag == "*" || page.tag == tag);
    let headers = [
        (header::ETAG, page.tag),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    Ok(match is_known {
        true => (StatusCode::NOT_MODIFIED, headers).into_response(),
        false => (headers, page.bytes).into_response(),
    })
}

fn make(loaded: &Loaded, snapshot: Arc<Snapshot>, all: bool, admin: bool) -> Answer<Page> {
    let list = ListJson { snapshot: &snapshot, all };
    let failed = |error: serde_json::Error| Problem::new(ErrorCode::InternalError, error.to_string());
    let bytes = match admin {
        true => serde_json::to_vec(&list).map_err(failed)?,
        false => {
            let mut value = serde_json::to_value(&list).map_err(failed)?;
            Hide::new(&snapshot, loaded.registry.surroundings()).value(&mut value);
            serde_json::to_vec(&value).map_err(failed)?
        }
    };
    let tag =
        HeaderValue::from_str(&format!("\"{}\"", digest(&bytes))).unwrap_or(HeaderValue::from_static("\"\""));
    let page = Page { bytes: bytes.into(), tag };
    loaded.listed.put(snapshot, all, admin, page.clone());
    Ok(page)
}
