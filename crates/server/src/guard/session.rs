//! The page's way to show a token: once, and from then on in a cookie that no script can read.

use std::sync::Arc;

use axum::extract::Extension;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::AppendHeaders;
use prowess::ErrorCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{Access, COOKIE, Guard};
use crate::asked::Body;
use crate::problem::{Answer, Problem};

/// What a person shows.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shown {
    /// The token.
    token: String,
}

type Cookie = AppendHeaders<[(HeaderName, String); 1]>;

/// Shows a token for all that this browser asks from now on.
#[utoipa::path(post, path = "/api/session", tag = "operations", security(()), request_body = Shown,
    responses((status = 204), (status = 401, body = Problem)))]
pub(crate) async fn begin(
    Extension(guard): Extension<Arc<Guard>>,
    headers: HeaderMap,
    Body(shown): Body<Shown>,
) -> Answer<(StatusCode, Cookie)> {
    let known = [&guard.token, &guard.admin_token].into_iter().flatten().any(|token| token.is(&shown.token));
    if !known {
        let detail = "that is not the token of this server";
        return Err(Problem::with_status(StatusCode::UNAUTHORIZED, ErrorCode::PermissionDenied, detail));
    }
    let is_encrypted = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let secure = if is_encrypted { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}", shown.token);
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, cookie)])))
}

/// Forgets the token that this browser shows.
#[utoipa::path(delete, path = "/api/session", tag = "operations", security(()), responses((status = 204)))]
pub(crate) async fn end(_: Access) -> (StatusCode, Cookie) {
    let cookie = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    (StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, cookie)]))
}
