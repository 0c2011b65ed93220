//! Reads, writes, renames and deletes a file of a skill.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, Skill, digest, resources};
use prowess_package::InstallTarget;
use prowess_package::limits::FILE_MAX;
use prowess_package::user_skills::{self, ExpectedContent};
use prowess_tools::json::{self, DiagnosticJson};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{blocking, find, find_editable, refresh_after_change, schemas};
use crate::app::App;
use crate::extract::{Flag, JsonBody, Path, QueryString, expected_length, read_body};
use crate::guard::{Access, Admin};
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// How to return the file.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileParams {
    /// `1` returns the raw bytes, for download.
    #[serde(default)]
    #[param(value_type = Option<String>, example = "1")]
    raw: Flag,
}

/// Returns a file of a skill: its text, or its bytes with `raw=1`.
#[utoipa::path(get, path = "/api/skills/{id}/files/{*path}", tag = "skills",
    params(("id" = String, Path), ("path" = String, Path), FileParams),
    responses((status = 200, content((schemas::FileContentResponse = "application/json"), (String = "text/plain"),
        (Vec<u8> = "application/octet-stream"))), (status = 404, body = Problem), (status = 415, body = Problem)))]
pub(crate) async fn get(
    State(app): State<App>,
    access: Access,
    Path((id, path)): Path<(String, String)>,
    QueryString(params): QueryString<FileParams>,
) -> ApiResult<Response> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let response = blocking(move || {
        let skill = find(&snapshot, &id)?;
        match params.raw.is_set() {
            true => bytes(skill, &path, &loaded, access).map(|bytes| download(&path, bytes)),
            false => text(skill, &path, &loaded, access).map(|value| Json(value).into_response()),
        }
    });
    response.await?
}

/// Returns `true` if the client may edit the skill. It may then read all of its files, even if the skill is not available.
fn is_editable(skill: &Skill, loaded: &LoadedState, access: Access) -> bool {
    let registry = &loaded.registry;
    access == Access::Admin && InstallTarget::for_editing(skill, registry.policy(), registry.host()).is_ok()
}

fn bytes(skill: &Skill, path: &str, loaded: &LoadedState, access: Access) -> ApiResult<Vec<u8>> {
    let registry = &loaded.registry;
    match is_editable(skill, loaded, access) {
        true => Ok(user_skills::read_skill_file(skill, path, registry.policy(), registry.host())?),
        false => Ok(resources::read_bytes(skill, path).map_err(read_problem)?.bytes),
    }
}

fn text(skill: &Skill, path: &str, loaded: &LoadedState, access: Access) -> ApiResult<Value> {
    if !is_editable(skill, loaded, access) {
        let resource =
            resources::read_text(skill, path, &loaded.registry.policy().limits).map_err(read_problem)?;
        let mut value = json::resource_json(&resource);
        let complete =
            resource.truncated.is_none().then(|| resources::read_bytes(skill, path).ok()).flatten();
        value["digest"] = json!(complete.map(|complete| digest(&complete.bytes)));
        return Ok(value);
    }
    let bytes = bytes(skill, path, loaded, access)?;
    let (size, digest) = (bytes.len(), digest(&bytes));
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let content =
        text.ok_or_else(|| Problem::new(ErrorCode::BinaryFile, format!("{path} is not a text file")))?;
    Ok(json!({
        "schema": 1,
        "name": skill.name(),
        "path": path,
        "content": content,
        "truncated": false,
        "bytes": size,
        "digest": digest,
    }))
}

fn read_problem(error: resources::ReadResourceError) -> Problem {
    Problem::new(error.code(), error.to_string())
}

/// Returns untrusted bytes as a download that a browser never displays.
fn download(path: &str, bytes: Vec<u8>) -> Response {
    let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
    let kind = if is_text { "text/plain; charset=utf-8" } else { "application/octet-stream" };
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = path.rsplit('/').next().unwrap_or_default().chars().filter(is_safe).collect();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    (headers, bytes).into_response()
}

/// The new content of a file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Write)]
pub(crate) struct WriteFile {
    /// The whole text.
    content: String,
    /// The digest of the content that the client read; if the file has changed since, nothing is written. An empty digest means
    /// that the file must not exist.
    digest: Option<String>,
}

/// The written file.
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
#[schema(as = Written)]
pub(crate) struct WrittenFileResponse {
    schema: u32,
    path: String,
    bytes: u64,
    /// The digest to send with the next change.
    digest: String,
    /// Warnings and notes about a manifest.
    diagnostics: Vec<schemas::DiagnosticEntryJson>,
}

/// Converts the digest that a client sends: missing for any content, empty for no file.
fn expected_content(digest: Option<String>) -> ExpectedContent {
    match digest {
        None => ExpectedContent::Any,
        Some(digest) if digest.is_empty() => ExpectedContent::Absent,
        Some(digest) => ExpectedContent::Digest(digest),
    }
}

/// Writes a file of a user skill: a text as JSON, or any bytes as `application/octet-stream`. Bytes replace an existing file, unless
/// the header `If-None-Match: *` is sent. Rejects a `SKILL.md` that would not load.
#[utoipa::path(put, path = "/api/skills/{id}/files/{*path}", tag = "skills",
    params(("id" = String, Path), ("path" = String, Path)),
    request_body(content((WriteFile = "application/json"), (Vec<u8> = "application/octet-stream"))),
    responses((status = 200, body = WrittenFileResponse), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn put(
    State(app): State<App>,
    _: Admin,
    Path((id, path)): Path<(String, String)>,
    request: Request,
) -> ApiResult<Json<Value>> {
    let (bytes, expected) = read_content(&app, request).await?;
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let result = blocking(move || -> ApiResult<Value> {
        let (policy, host) = (work.registry.policy(), work.registry.host());
        let skill = find_editable(&snapshot, &id, policy, host)?;
        let result = user_skills::write_skill_file(skill, &path, &bytes, &expected, policy, host)?;
        let location = skill.dir().join(&result.path);
        let diagnostics: Vec<_> =
            result.diagnostics.iter().map(|diagnostic| DiagnosticJson::new(&location, diagnostic)).collect();
        Ok(json!({
            "schema": 1,
            "path": result.path,
            "bytes": result.bytes,
            "digest": result.digest,
            "diagnostics": diagnostics,
        }))
    });
    let result = result.await??;
    refresh_after_change(&app, &loaded).await?;
    Ok(Json(result))
}

/// Reads the new content of a file from a request.
async fn read_content(app: &App, request: Request) -> ApiResult<(Vec<u8>, ExpectedContent)> {
    let headers = request.headers();
    if headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != "application/octet-stream") {
        let JsonBody(WriteFile { content, digest }) = JsonBody::from_request(request, &()).await?;
        return Ok((content.into_bytes(), expected_content(digest)));
    }
    let must_be_new = headers.get(header::IF_NONE_MATCH).is_some_and(|tag| tag == "*");
    let _permit = app.transfers.acquire(expected_length(headers, FILE_MAX))?;
    let bytes = read_body(request, usize::try_from(FILE_MAX).unwrap_or(usize::MAX)).await?;
    Ok((bytes, if must_be_new { ExpectedContent::Absent } else { ExpectedContent::Any }))
}

/// Which content may be deleted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteParams {
    /// The digest of the content that the client read; if the file has changed since, it is kept.
    digest: Option<String>,
}

/// Deletes a file of a user skill, except its `SKILL.md`.
#[utoipa::path(delete, path = "/api/skills/{id}/files/{*path}", tag = "skills",
    params(("id" = String, Path), ("path" = String, Path), DeleteParams),
    responses((status = 204), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<App>,
    _: Admin,
    Path((id, path)): Path<(String, String)>,
    QueryString(params): QueryString<DeleteParams>,
) -> ApiResult<StatusCode> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let deleted = blocking(move || -> ApiResult<()> {
        let (policy, host) = (work.registry.policy(), work.registry.host());
        let skill = find_editable(&snapshot, &id, policy, host)?;
        let expected = expected_content(params.digest);
        Ok(user_skills::delete_skill_file(skill, &path, &expected, policy, host)?)
    });
    deleted.await??;
    refresh_after_change(&app, &loaded).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A file to rename.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RenameFile)]
pub(crate) struct RenameFile {
    /// The path of the file.
    from: String,
    /// The new path, at which nothing may exist.
    to: String,
    /// The digest of the content that the client read; if the file has changed since, it is not renamed.
    digest: Option<String>,
}

/// Renames a file of a user skill, except its `SKILL.md`.
#[utoipa::path(post, path = "/api/skills/{id}/rename", tag = "skills", params(("id" = String, Path)), request_body = RenameFile,
    responses((status = 204), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn rename(
    State(app): State<App>,
    _: Admin,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<RenameFile>,
) -> ApiResult<StatusCode> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let renamed = blocking(move || -> ApiResult<()> {
        let (policy, host) = (work.registry.policy(), work.registry.host());
        let skill = find_editable(&snapshot, &id, policy, host)?;
        let RenameFile { from, to, digest } = request;
        let expected = expected_content(digest);
        Ok(user_skills::rename_skill_file(skill, &from, &to, &expected, policy, host)?)
    });
    renamed.await??;
    refresh_after_change(&app, &loaded).await?;
    Ok(StatusCode::NO_CONTENT)
}
