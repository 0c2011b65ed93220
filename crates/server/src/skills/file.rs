//! One file of a skill.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, Skill, digest, resource};
use prowess_package::Place;
use prowess_package::own::{self, Expected};
use prowess_tools::shapes::{self, DiagnosticJson};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{blocking, changed, find, find_own, told};
use crate::app::App;
use crate::asked::{Body, Flag, Path, Query};
use crate::guard::{Access, Admin};
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// How it is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct How {
    /// With `1`, the bytes themselves, to be saved.
    #[serde(default)]
    #[param(value_type = Option<String>, example = "1")]
    raw: Flag,
}

/// A file of a skill: its text, or with `raw=1` its bytes.
#[utoipa::path(get, path = "/api/skills/{id}/files/{*path}", tag = "skills",
    params(("id" = String, Path), ("path" = String, Path), How),
    responses((status = 200, content((told::FileRead = "application/json"), (String = "text/plain"),
        (Vec<u8> = "application/octet-stream"))), (status = 404, body = Problem), (status = 415, body = Problem)))]
pub(crate) async fn get(
    State(app): State<App>,
    access: Access,
    Path((id, path)): Path<(String, String)>,
    Query(how): Query<How>,
) -> Answer<Response> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let read = blocking(move || {
        let skill = find(&snapshot, &id)?;
        match how.raw.is_set() {
            true => bytes(skill, &path, &loaded, access).map(|bytes| as_it_is(&path, bytes)),
            false => text(skill, &path, &loaded, access).map(|answer| Json(answer).into_response()),
        }
    });
    read.await?
}

/// Whether this is read to be changed: then it is read as it is, whatever became of the skill.
fn is_own(skill: &Skill, loaded: &Loaded, access: Access) -> bool {
    let registry = &loaded.registry;
    access == Access::Admin && Place::of_own(skill, registry.policy(), registry.surroundings()).is_ok()
}

fn bytes(skill: &Skill, path: &str, loaded: &Loaded, access: Access) -> Answer<Vec<u8>> {
    let registry = &loaded.registry;
    match is_own(skill, loaded, access) {
        true => Ok(own::read(skill, path, registry.policy(), registry.surroundings())?),
        false => Ok(resource::read_bytes(skill, path).map_err(of_access)?.bytes),
    }
}

fn text(skill: &Skill, path: &str, loaded: &Loaded, access: Access) -> Answer<Value> {
    if !is_own(skill, loaded, access) {
        let read = resource::read(skill, path, &loaded.registry.policy().limits).map_err(of_access)?;
        let mut answer = shapes::read(&read);
        let whole = read.truncated.is_none().then(|| resource::read_bytes(skill, path).ok()).flatten();
        answer["digest"] = json!(whole.map(|whole| digest(&whole.bytes)));
        return Ok(answer);
    }
    let bytes = bytes(skill, path, loaded, access)?;
    let (size, digest) = (bytes.len(), digest(&bytes));
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let content = text.ok_or_else(|| Problem::new(ErrorCode::BinaryFile, format!("{path} is no text")))?;
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

fn of_access(error: resource::AccessError) -> Problem {
    Problem::new(error.code(), error.to_string())
}

/// Bytes that a browser saves and never shows: they are a stranger's.
fn as_it_is(path: &str, bytes: Vec<u8>) -> Response {
    let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
    let kind = if is_text { "text/plain; charset=utf-8" } else { "application/octet-stream" };
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = path.rsplit('/').next().unwrap_or_default().chars().filter(plain).collect();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    (headers, bytes).into_response()
}

/// What a file is to become.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The whole text.
    content: String,
    /// The digest of what was read; if the file has changed since, nothing is written. An empty one: there is no such file
    /// yet.
    digest: Option<String>,
}

/// What was written.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct Written {
    schema: u32,
    path: String,
    bytes: u64,
    /// What to send along with the next change.
    digest: String,
    /// What there is to say about a manifest; no errors.
    diagnostics: Vec<told::DiagnosticEntry>,
}

/// Writes a file of a user skill. A `SKILL.md` that would not load is refused.
#[utoipa::path(put, path = "/api/skills/{id}/files/{*path}", tag = "skills",
    params(("id" = String, Path), ("path" = String, Path)), request_body = Write,
    responses((status = 200, body = Written), (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn put(
    State(app): State<App>,
    _: Admin,
    Path((id, path)): Path<(String, String)>,
    Body(write): Body<Write>,
) -> Answer<Json<Value>> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let written = blocking(move || -> Answer<Value> {
        let (policy, world) = (work.registry.policy(), work.registry.surroundings());
        let skill = find_own(&snapshot, &id, policy, world)?;
        let expected = match write.digest {
            None => Expected::Any,
            Some(digest) if digest.is_empty() => Expected::Nothing,
            Some(digest) => Expected::Digest(digest),
        };
        let written = own::write(skill, &path, write.content.as_bytes(), &expected, policy, world)?;
        let location = skill.folder().join(&written.path);
        let said: Vec<_> =
            written.diagnostics.iter().map(|said| DiagnosticJson::new(&location, said)).collect();
        Ok(json!({
            "schema": 1,
            "path": written.path,
            "bytes": written.bytes,
            "digest": written.digest,
            "diagnostics": said,
        }))
    });
    let written = written.await??;
    changed(&app, &loaded).await?;
    Ok(Json(written))
}
