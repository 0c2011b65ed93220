//! Making, deleting and switching skills, and looking at all of them again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prowess::ErrorCode;
use prowess_chat::store::Topic;
use prowess_package::Place;
use prowess_package::own::{self, NewSkill};
use prowess_package::switch::{self, Target, To, Whose};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::one::everything;
use super::{blocking, changed, find, find_own, told};
use crate::app::App;
use crate::asked::{Body, Path};
use crate::guard::{Access, Admin};
use crate::problem::{Answer, Problem};

/// A skill that is to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct New {
    /// What its folder is called; what no folder can be called is made to fit, or refused where it looks like a path.
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    /// What it is called.
    #[schema(min_length = 1)]
    name: String,
    /// What it does, and when to use it.
    #[schema(min_length = 1)]
    description: String,
    /// The instructions, in Markdown.
    body: Option<String>,
}

/// Makes a user skill. `errors` says field by field what is wrong.
#[utoipa::path(post, path = "/api/skills", tag = "skills", request_body = New,
    responses((status = 201, body = told::Skill), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn create(State(app): State<App>, _: Admin, Body(new): Body<New>) -> Answer<Response> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let made = blocking(move || -> Answer<own::Made> {
        let (policy, world) = (work.registry.policy(), work.registry.surroundings());
        if snapshot.all().iter().any(|skill| skill.id() == new.id.as_str()) {
            return Err(own::OwnError::Exists(new.id).into());
        }
        let place = Place::own(policy, world).map_err(own::OwnError::from)?;
        let New { id, name, description, body } = &new;
        let skill = NewSkill { id, name, description, body: body.as_deref() };
        Ok(own::make(&skill, &place, &policy.manifest)?)
    });
    let made = made.await??;
    let snapshot = changed(&app, &loaded).await?;
    let id = made.id.clone();
    let answer = blocking(move || {
        // The one that was made, whatever else has its name.
        let own = snapshot.all().iter().find(|skill| skill.location() == made.location);
        let skill = own.map_or_else(|| find(&snapshot, &made.id), Ok)?;
        Ok::<_, Problem>(everything(skill, &snapshot, &loaded, Access::Admin))
    });
    let answer = answer.await??;
    let mut response = (StatusCode::CREATED, Json(answer)).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/api/skills/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Deletes a user skill, with all its files.
#[utoipa::path(delete, path = "/api/skills/{id}", tag = "skills", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn delete(State(app): State<App>, _: Admin, Path(id): Path<String>) -> Answer<StatusCode> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let work = Arc::clone(&loaded);
    let deleted = blocking(move || -> Answer<()> {
        let (policy, world) = (work.registry.policy(), work.registry.surroundings());
        Ok(own::delete(find_own(&snapshot, &id, policy, world)?, policy, world)?)
    });
    deleted.await??;
    changed(&app, &loaded).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Switches a skill on, in the user's configuration.
#[utoipa::path(post, path = "/api/skills/{id}/enable", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = told::Switched), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn enable(State(app): State<App>, _: Admin, Path(id): Path<String>) -> Answer<Json<Value>> {
    switched(app, id, To::On).await
}

/// Switches a skill off, in the user's configuration.
#[utoipa::path(post, path = "/api/skills/{id}/disable", tag = "skills", params(("id" = String, Path)),
    responses((status = 200, body = told::Switched), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn disable(State(app): State<App>, _: Admin, Path(id): Path<String>) -> Answer<Json<Value>> {
    switched(app, id, To::Off).await
}

async fn switched(app: App, id: String, to: To) -> Answer<Json<Value>> {
    let loaded = app.live.now();
    let work = app.clone();
    let switched = blocking(move || -> Answer<switch::Switched> {
        let configuration = &loaded.configuration;
        let given = configuration.policy.scan.roots.iter().filter(|spec| spec.given);
        let roots: Vec<_> = given.map(|spec| spec.path().to_owned()).collect();
        let supplies = loaded.registry.supplies();
        let target = Target::Skill(id);
        let switched = switch::switch_with(&configuration.inputs, &roots, supplies, &target, to, Whose::User)
            .map_err(|error| Problem::new(error.code(), error.to_string()))?;
        // What is in force is made of the configuration.
        work.live.reload().map_err(|error| Problem::new(ErrorCode::Conflict, error.to_string()))?;
        Ok(switched)
    });
    let switched = switched.await??;
    app.store.announce(Topic::Skills);
    match &switched.in_the_way {
        Some(way) => Err(Problem::new(ErrorCode::Conflict, way.why.clone())),
        None => Ok(Json(switched.json(to))),
    }
}

/// What is different since the last time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rescanned {
    schema: u32,
    /// Offered now and not before.
    added: Vec<String>,
    /// Offered before and not now.
    removed: Vec<String>,
    /// Offered before and now, with another text or from another place.
    changed: Vec<String>,
    /// How many are offered.
    offered: usize,
}

/// Looks at all directories of skills again, and at the configuration.
#[utoipa::path(post, path = "/api/rescan", tag = "skills", responses((status = 200, body = Rescanned)))]
pub(crate) async fn rescan(State(app): State<App>, _: Admin) -> Answer<Json<Rescanned>> {
    let before = app.live.now().registry.snapshot();
    let work = app.clone();
    let now = blocking(move || work.live.catch_up()).await?;
    app.store.announce(Topic::Skills);
    let difference = now.since(&before);
    Ok(Json(Rescanned {
        schema: 1,
        added: difference.added,
        removed: difference.removed,
        changed: difference.changed,
        offered: now.enabled().count(),
    }))
}
