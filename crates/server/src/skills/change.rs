//! Creates, deletes, enables and disables skills, and rescans all of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prowess::{ErrorCode, SkillKey};
use prowess_chat::store::Topic;
use prowess_package::InstallTarget;
use prowess_package::switch::{self, ConfigScope, DesiredState, SwitchTarget};
use prowess_package::user_skills::{self, NewSkill};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::detail::skill_details;
use super::{blocking, find, find_editable, refresh_after_change, schemas};
use crate::app::App;
use crate::extract::{JsonBody, Path};
use crate::guard::{Access, Admin};
use crate::problem::{ApiResult, Problem};

/// A skill to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = New)]
pub(crate) struct CreateSkill {
    /// The directory name. Invalid characters are replaced; a value that looks like a path is rejected.
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    /// The name.
    #[schema(min_length = 1)]
    name: String,
    /// What the skill does and when to use it.
    #[schema(min_length = 1)]
    description: String,
    /// The instructions, in Markdown.
    body: Option<String>,
}

/// Creates a user skill. `errors` lists the invalid fields.
#[utoipa::path(post, path = "/api/skills", tag = "skills", request_body = CreateSkill,
    responses((status = 201, body = schemas::SkillResponse), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn create(
    State(app): State<App>,
    _: Admin,
    JsonBody(new): JsonBody<CreateSkill>,
) -> ApiResult<Response> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let created = blocking(move || -> ApiResult<user_skills::CreatedSkill> {
        let (policy, host) = (work.registry.policy(), work.registry.host());
        if snapshot.all().iter().any(|skill| skill.id() == new.id.as_str()) {
            return Err(user_skills::UserSkillError::Exists(new.id).into());
        }
        let target = InstallTarget::user_skills(policy, host).map_err(user_skills::UserSkillError::from)?;
        let CreateSkill { id, name, description, body } = &new;
        let skill = NewSkill { id, name, description, body: body.as_deref() };
        Ok(user_skills::create_skill(&skill, &target, &policy.manifest)?)
    });
    let created = created.await??;
    let snapshot = refresh_after_change(&app, &loaded).await?;
    let id = created.id.clone();
    let value = blocking(move || {
        // Other skills may have the same name, so the created one is found by its path.
        let skill = snapshot.all().iter().find(|skill| skill.skill_md_path() == created.skill_md_path);
        let skill = skill.map_or_else(|| find(&snapshot, &created.id), Ok)?;
        Ok::<_, Problem>(skill_details(skill, &snapshot, &loaded, Access::Admin))
    });
    let value = value.await??;
    let mut response = (StatusCode::CREATED, Json(value)).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/api/skills/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Deletes a user skill, with all its files.
#[utoipa::path(delete, path = "/api/skills/{id}", tag = "skills", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<App>,
    _: Admin,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let deleted = blocking(move || -> ApiResult<()> {
        let (policy, host) = (work.registry.policy(), work.registry.host());
        Ok(user_skills::delete_skill(find_editable(&snapshot, &id, policy, host)?, policy, host)?)
    });
    deleted.await??;
    refresh_after_change(&app, &loaded).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Enables a skill in the user's configuration.
#[utoipa::path(post, path = "/api/skills/{id}/enable", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = schemas::SwitchResponse), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn enable(
    State(app): State<App>,
    _: Admin,
    Path(id): Path<String>,
) -> ApiResult<Json<Value>> {
    set_state(app, id, DesiredState::Enabled).await
}

/// Disables a skill in the user's configuration.
#[utoipa::path(post, path = "/api/skills/{id}/disable", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = schemas::SwitchResponse), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn disable(
    State(app): State<App>,
    _: Admin,
    Path(id): Path<String>,
) -> ApiResult<Json<Value>> {
    set_state(app, id, DesiredState::Disabled).await
}

async fn set_state(app: App, id: String, state: DesiredState) -> ApiResult<Json<Value>> {
    let loaded = app.reloadable.current();
    let work = app.clone();
    let switched = blocking(move || -> ApiResult<switch::SwitchOutcome> {
        let configuration = &loaded.configuration;
        let explicit = configuration.policy.scan.roots.iter().filter(|spec| spec.is_explicit);
        let roots: Vec<_> = explicit.map(|spec| spec.path().to_owned()).collect();
        let remote_sources = loaded.registry.remote_sources();
        let target = SwitchTarget::Skill(id);
        let switched = switch::switch_with_remote(
            &configuration.inputs,
            &roots,
            remote_sources,
            &target,
            state,
            ConfigScope::User,
        )
        .map_err(|error| Problem::new(error.code(), error.to_string()))?;
        // The change takes effect only after a reload.
        work.reloadable.reload().map_err(|error| Problem::new(ErrorCode::Conflict, error.to_string()))?;
        Ok(switched)
    });
    let switched = switched.await??;
    app.store.announce(Topic::Skills);
    match &switched.obstacle {
        Some(obstacle) => Err(Problem::new(ErrorCode::Conflict, obstacle.reason.clone())),
        None => Ok(Json(switched.to_json(state))),
    }
}

/// The changes found by a rescan.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Rescanned)]
pub(crate) struct RescanResponse {
    schema: u32,
    /// Skills that are now available.
    added: Vec<String>,
    /// Skills that are no longer available.
    removed: Vec<String>,
    /// Available skills whose content or location changed.
    changed: Vec<String>,
    /// The number of available skills.
    offered: usize,
}

/// Rescans all skill directories and the configuration.
#[utoipa::path(post, path = "/api/rescan", tag = "skills", responses((status = 200, body = RescanResponse)))]
pub(crate) async fn rescan(State(app): State<App>, _: Admin) -> ApiResult<Json<RescanResponse>> {
    let previous = app.reloadable.current().registry.snapshot();
    let work = app.clone();
    let now = blocking(move || work.reloadable.refresh()).await?;
    app.store.announce(Topic::Skills);
    let diff = now.diff_from(&previous);
    let names = |keys: &[SkillKey]| keys.iter().map(String::from).collect();
    Ok(Json(RescanResponse {
        schema: 1,
        added: names(&diff.added),
        removed: names(&diff.removed),
        changed: names(&diff.changed),
        offered: now.enabled().count(),
    }))
}
