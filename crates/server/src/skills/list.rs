//! Lists skills. The serialized list is cached until the skills change.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, Snapshot, digest};
use prowess_tools::json::{ListFilter, ListJson};
use serde::Deserialize;
use utoipa::IntoParams;

use super::redact::PathRedactor;
use super::{blocking, schemas};
use crate::app::App;
use crate::cache::CachedPage;
use crate::extract::{Flag, QueryString};
use crate::guard::Access;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// Selects skills.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillsParams {
    /// `1` includes skills that are not available, each with the reason.
    #[serde(default)]
    #[param(value_type = Option<String>, example = "1")]
    all: Flag,
}

/// Lists the skills that are available to the model, in catalog order.
#[utoipa::path(get, path = "/api/skills", tag = "skills", params(SkillsParams),
    responses((status = 200, body = schemas::SkillsResponse), (status = 304, description = "Not modified")))]
pub(crate) async fn list(
    State(app): State<App>,
    access: Access,
    QueryString(params): QueryString<SkillsParams>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let (all, admin) = (params.all.is_set(), access == Access::Admin);
    let page = match loaded.skill_list.get(&snapshot, all, admin) {
        Some(page) => page,
        None => {
            let loaded = Arc::clone(&loaded);
            blocking(move || render_page(&loaded, snapshot, all, admin)).await??
        }
    };
    let known_etags = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags =
        known_etags.flat_map(|line| line.split(',')).map(|tag| tag.trim().trim_start_matches("W/"));
    let is_unchanged = tags.any(|tag| tag == "*" || page.tag == tag);
    let headers = [
        (header::ETAG, page.tag),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    Ok(match is_unchanged {
        true => (StatusCode::NOT_MODIFIED, headers).into_response(),
        false => (headers, page.bytes).into_response(),
    })
}

fn render_page(
    loaded: &LoadedState,
    snapshot: Arc<Snapshot>,
    all: bool,
    admin: bool,
) -> ApiResult<CachedPage> {
    let filter = if all { ListFilter::All } else { ListFilter::Enabled };
    let list = ListJson { snapshot: &snapshot, filter, agents: None, plugins: None };
    let failed = |error: serde_json::Error| Problem::new(ErrorCode::InternalError, error.to_string());
    let bytes = match admin {
        true => serde_json::to_vec(&list).map_err(failed)?,
        false => {
            let mut value = serde_json::to_value(&list).map_err(failed)?;
            PathRedactor::new(&snapshot, loaded.registry.host()).redact(&mut value);
            serde_json::to_vec(&value).map_err(failed)?
        }
    };
    let tag =
        HeaderValue::from_str(&format!("\"{}\"", digest(&bytes))).unwrap_or(HeaderValue::from_static("\"\""));
    let page = CachedPage { bytes: bytes.into(), tag };
    loaded.skill_list.put(snapshot, all, admin, page.clone());
    Ok(page)
}
