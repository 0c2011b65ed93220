//! Details of one skill, and the list of its files.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::{FileListing, Skill, Snapshot};
use prowess_package::InstallTarget;
use prowess_tools::json::SkillDetails;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::redact::PathRedactor;
use super::{blocking, find, schemas};
use crate::app::App;
use crate::extract::Path;
use crate::guard::Access;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// Returns the details of a skill. If several have this id, the available one.
#[utoipa::path(get, path = "/api/skills/{id}", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = schemas::SkillResponse), (status = 404, body = Problem)))]
pub(crate) async fn one(
    State(app): State<App>,
    access: Access,
    Path(id): Path<String>,
) -> ApiResult<Json<Value>> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let found =
        blocking(move || find(&snapshot, &id).map(|skill| skill_details(skill, &snapshot, &loaded, access)));
    found.await?.map(Json)
}

/// Returns the details of a skill as JSON.
pub(super) fn skill_details(
    skill: &Skill,
    snapshot: &Snapshot,
    loaded: &Arc<LoadedState>,
    access: Access,
) -> Value {
    let (policy, host) = (loaded.registry.policy(), loaded.registry.host());
    let mut value = SkillDetails::collect(skill, policy, host).to_json(skill);
    let target = InstallTarget::for_editing(skill, policy, host);
    value["editable"] = json!(target.is_ok());
    value["not_editable_because"] = json!(target.err().map(|error| error.to_string()));
    if access != Access::Admin {
        PathRedactor::new(snapshot, host).redact(&mut value);
    }
    value
}

/// The files of a skill.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Files)]
pub(crate) struct FilesResponse {
    schema: u32,
    /// The id of the skill.
    id: String,
    /// The files, sorted by path.
    files: Vec<SkillFileJson>,
    /// Whether the list is incomplete.
    truncated: bool,
}

/// A file of a skill.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SkillFile)]
pub(crate) struct SkillFileJson {
    /// The path relative to the skill directory.
    path: String,
    /// The size.
    bytes: u64,
    /// Whether it is executable.
    executable: bool,
    /// Whether it is binary, judged by its name.
    binary: bool,
}

/// Lists the files of a skill.
#[utoipa::path(get, path = "/api/skills/{id}/files", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = FilesResponse), (status = 404, body = Problem)))]
pub(crate) async fn files(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Json<FilesResponse>> {
    let snapshot = app.reloadable.current().skills().await;
    let listed = blocking(move || {
        let skill = find(&snapshot, &id)?;
        let contents = FileListing::for_skill(skill);
        let entry = |file: prowess::FileEntry| SkillFileJson {
            binary: is_binary(&file.path),
            path: file.path,
            bytes: file.bytes,
            executable: file.executable,
        };
        let files = contents.files.into_iter().map(entry).collect();
        Ok(FilesResponse { schema: 1, id: skill.id().into_owned(), files, truncated: contents.truncated })
    });
    listed.await?.map(Json)
}

/// Returns whether a file is binary, judged by its name only.
fn is_binary(path: &str) -> bool {
    const TEXT: [&str; 8] = ["text/", "json", "yaml", "toml", "xml", "script", "x-sh", "sql"];
    prowess::resources::mime_type_for_path(path)
        .is_some_and(|kind| !TEXT.iter().any(|text| kind.contains(text)))
}
