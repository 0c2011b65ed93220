//! The index by which others install skills from here: `prowess install https://this.server`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, Skill, Snapshot};
use prowess_package::pack::{Artifact, artifact as pack, index as written};

use super::blocking;
use crate::app::App;
use crate::asked::Path;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// How long an index may be told again. Files of a skill besides its manifest change without anybody noticing.
const KEPT: Duration = Duration::from_secs(10);

/// The most skills that are published.
const SKILLS_MAX: usize = 1_000;

/// The index as it was last made.
#[derive(Default)]
pub(crate) struct Index {
    kept: Mutex<Option<(Arc<Snapshot>, Instant, Bytes)>>,
}

/// The index of the skills that can be installed from here: those on offer that lie on this machine.
#[utoipa::path(get, path = "/.well-known/agent-skills/index.json", tag = "interchange",
    responses((status = 200, body = serde_json::Value)))]
pub(crate) async fn index(State(app): State<App>) -> Answer<Response> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let bytes = blocking(move || loaded.index.get(&snapshot)).await?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response())
}

impl Index {
    fn get(&self, snapshot: &Arc<Snapshot>) -> Bytes {
        // Whoever comes meanwhile waits for it, instead of making it once more.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, made, bytes)) = &*kept
            && Arc::ptr_eq(of, snapshot)
            && made.elapsed() < KEPT
        {
            return bytes.clone();
        }
        let artifacts: Vec<Artifact> = published(snapshot)
            .take(SKILLS_MAX)
            .filter_map(|skill| pack(&skill.canonical_folder()).ok())
            .collect();
        let bytes = Bytes::from(written(&artifacts));
        *kept = Some((Arc::clone(snapshot), Instant::now(), bytes.clone()));
        bytes
    }
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
    let found = blocking(move || find(&snapshot, &loaded, &path)).await?;
    let artifact = found.ok_or_else(|| Problem::new(ErrorCode::NotFound, "the index names no such file"))?;
    let kind = if artifact.kind == "archive" { "application/zip" } else { "text/markdown; charset=utf-8" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, artifact.bytes).into_response())
}

fn find(snapshot: &Snapshot, _: &Loaded, path: &str) -> Option<Artifact> {
    let name = path.strip_suffix("/SKILL.md").or_else(|| path.strip_suffix(".zip"))?;
    let skill = published(snapshot).find(|skill| skill.name() == name)?;
    pack(&skill.canonical_folder()).ok().filter(|artifact| artifact.url == path)
}
