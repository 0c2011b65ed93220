//! One skill, and the list of its files.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::{Contents, Skill, Snapshot};
use prowess_package::Place;
use prowess_tools::shapes::Facts;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::hide::Hide;
use super::{blocking, find, told};
use crate::app::App;
use crate::asked::Path;
use crate::guard::Access;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// Everything about one skill. Of several that have this id, the one that counts.
#[utoipa::path(get, path = "/api/skills/{id}", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = told::Skill), (status = 404, body = Problem)))]
pub(crate) async fn one(
    State(app): State<App>,
    access: Access,
    Path(id): Path<String>,
) -> Answer<Json<Value>> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let found =
        blocking(move || find(&snapshot, &id).map(|skill| everything(skill, &snapshot, &loaded, access)));
    found.await?.map(Json)
}

/// What is told of one skill.
pub(super) fn everything(skill: &Skill, snapshot: &Snapshot, loaded: &Arc<Loaded>, access: Access) -> Value {
    let (policy, world) = (loaded.registry.policy(), loaded.registry.surroundings());
    let mut answer = Facts::gather(skill, policy, world).json(skill);
    let place = Place::of_own(skill, policy, world);
    answer["editable"] = json!(place.is_ok());
    answer["not_editable_because"] = json!(place.err().map(|why| why.to_string()));
    if access != Access::Admin {
        Hide::new(snapshot, world).value(&mut answer);
    }
    answer
}

/// The files of a skill.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Files {
    schema: u32,
    /// The skill.
    id: String,
    /// Sorted by path.
    files: Vec<File>,
    /// Whether there are more than are listed.
    truncated: bool,
}

/// One of them.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SkillFile)]
pub(crate) struct File {
    /// Its path in the skill's folder.
    path: String,
    /// Its size.
    bytes: u64,
    /// Whether it may be executed.
    executable: bool,
    /// Whether it is no text, as far as its name tells.
    binary: bool,
}

/// The files of a skill.
#[utoipa::path(get, path = "/api/skills/{id}/files", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = Files), (status = 404, body = Problem)))]
pub(crate) async fn files(State(app): State<App>, Path(id): Path<String>) -> Answer<Json<Files>> {
    let snapshot = app.live.now().skills().await;
    let listed = blocking(move || {
        let skill = find(&snapshot, &id)?;
        let contents = Contents::of(skill);
        let entry = |file: prowess::FileEntry| File {
            binary: is_binary(&file.path),
            path: file.path,
            bytes: file.bytes,
            executable: file.executable,
        };
        let files = contents.files.into_iter().map(entry).collect();
        Ok(Files { schema: 1, id: skill.id().into_owned(), files, truncated: contents.cut })
    });
    listed.await?.map(Json)
}

/// What is no text by its name; whether a file really is, reading it tells.
fn is_binary(path: &str) -> bool {
    const TEXT: [&str; 8] = ["text/", "json", "yaml", "toml", "xml", "script", "x-sh", "sql"];
    prowess::resource::mime_of_name(path).is_some_and(|kind| !TEXT.iter().any(|text| kind.contains(text)))
}
