//! The index by which others install skills from here: `prowess install https://this.server`.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, Skill, Snapshot};
use prowess_package::pack::{Artifact, artifact as pack, index as written};

use super::blocking;
use crate::app::App;
use crate::asked::Path;
use crate::problem::{Answer, Problem};

/// The most skills that are published.
const SKILLS_MAX: usize = 1_000;

/// The index of the skills that can be installed from here: those on offer that lie on this machine.
#[utoipa::path(get, path = "/.well-known/agent-skills/index.json", tag = "interchange",
    responses((status = 200, body = serde_json::Value)))]
pub(crate) async fn index(State(app): State<App>) -> Answer<Response> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let bytes = blocking(move || loaded.index.get(&snapshot, || made(&snapshot))).await?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response())
}

fn made(snapshot: &Snapshot) -> Bytes {
    let artifacts: Vec<Artifact> = published(snapshot)
        .take(SKILLS_MAX)
        .filter_map(|skill| pack(&skill.canonical_folder()).ok())
        .collect();
    Bytes::from(written(&artifacts))
}

/// What can be handed on: not what is part of every Prowess, and not what other servers have.
fn published(snapshot: &Snapshot) -> impl Iterator<Item = &Skill> {
    let here =
        |skill: &&Skill| !skill.root().is_embedded() && !skill.root().is_supplied() && skill.link().is_none();
    snapshot.enabled().filter(here)
}

/// A skill that the index names: its `SKILL.md`, or all its files as an archive.
#[utoipa::path(get, path = "/.well-known/agent-skills/{*path}", tag = "interchange", params(("path" = String, Path)),
    responses((status = 200, description = "its bytes"), (status = 404, body = Problem)))]
pub(crate) async fn artifact(State(app): State<App>, Path(path): Path<String>) -> Answer<Response> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let found = blocking(move || find(&snapshot, &path)).await?;
    let artifact = found.ok_or_else(|| Problem::new(ErrorCode::NotFound, "the index names no such file"))?;
    let kind = if artifact.kind == "archive" { "application/zip" } else { "text/markdown; charset=utf-8" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, artifact.bytes).into_response())
}

fn find(snapshot: &Snapshot, path: &str) -> Option<Artifact> {
    let name = path.strip_suffix("/SKILL.md").or_else(|| path.strip_suffix(".zip"))?;
    let skill = published(snapshot).find(|skill| skill.name() == name)?;
    pack(&skill.canonical_folder()).ok().filter(|artifact| artifact.url == path)
}
