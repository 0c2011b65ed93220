//! The index for installing skills from this server: `prowess install https://this.server`.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, Skill, Snapshot};
use prowess_package::pack::{SkillArtifact, build_artifact, build_index};

use super::blocking;
use crate::app::App;
use crate::extract::Path;
use crate::problem::{ApiResult, Problem};

/// The maximum number of published skills.
const SKILLS_MAX: usize = 1_000;

/// Returns the index of skills that can be installed from this server: the available local skills.
#[utoipa::path(get, path = "/.well-known/agent-skills/index.json", tag = "interchange",
    responses((status = 200, body = serde_json::Value)))]
pub(crate) async fn index(State(app): State<App>) -> ApiResult<Response> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let bytes = blocking(move || loaded.index.get(&snapshot, || build_index_bytes(&snapshot))).await?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response())
}

fn build_index_bytes(snapshot: &Snapshot) -> Bytes {
    let artifacts: Vec<SkillArtifact> = published(snapshot)
        .take(SKILLS_MAX)
        .filter_map(|skill| build_artifact(&skill.canonical_dir()).ok())
        .collect();
    Bytes::from(build_index(&artifacts))
}

/// Returns the skills to publish: neither bundled skills nor those of remote sources.
fn published(snapshot: &Snapshot) -> impl Iterator<Item = &Skill> {
    let is_local =
        |skill: &&Skill| !skill.root().is_embedded() && !skill.root().is_remote() && skill.link().is_none();
    snapshot.enabled().filter(is_local)
}

/// Returns a skill of the index: its `SKILL.md`, or all its files as an archive.
#[utoipa::path(get, path = "/.well-known/agent-skills/{*path}", tag = "interchange", params(("path" = String, Path)),
    responses((status = 200, description = "The file"), (status = 404, body = Problem)))]
pub(crate) async fn artifact(State(app): State<App>, Path(path): Path<String>) -> ApiResult<Response> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let result = blocking(move || find(&snapshot, &path)).await?;
    let artifact = result.ok_or_else(|| Problem::new(ErrorCode::NotFound, "no such file in the index"))?;
    let kind = if artifact.kind == "archive" { "application/zip" } else { "text/markdown; charset=utf-8" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, artifact.bytes).into_response())
}

fn find(snapshot: &Snapshot, path: &str) -> Option<SkillArtifact> {
    let name = path.strip_suffix("/SKILL.md").or_else(|| path.strip_suffix(".zip"))?;
    let skill = published(snapshot).find(|skill| skill.name() == name)?;
    build_artifact(&skill.canonical_dir()).ok().filter(|artifact| artifact.url == path)
}
