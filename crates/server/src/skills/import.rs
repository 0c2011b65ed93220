//! What is sent: an archive, or the files of a folder.

use std::sync::Arc;

use axum::Json;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use prowess::ErrorCode;
use prowess::policy::Identity;
use prowess_package::audit::Suppressions;
use prowess_package::own::OwnError;
use prowess_package::{Action, Import, Item, Judge, Known, Place, Work, plan_import};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::sent::{REQUEST_MAX, Sent};
use super::wrong::of_sent;
use super::{blocking, changed};
use crate::app::App;
use crate::asked::{Flag, Query};
use crate::guard::Admin;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// The user's own list of findings that are all right.
const SUPPRESSIONS: &str = ".prowess/audit.toml";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(import)).layer(DefaultBodyLimit::max(REQUEST_MAX))
}

/// Whether anything is done.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct How {
    /// With `1`, nothing is changed, and what would happen is told.
    #[serde(default)]
    #[param(value_type = Option<String>, example = "1")]
    dry_run: Flag,
}

/// What is sent, as a form.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct Form {
    /// One archive (`.zip`, `.skill`, `.tar.gz`), or one part for each file of a folder, whose file name is its path.
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<Vec<u8>>,
    /// What the skill is to be called, if not what it calls itself, or its folder.
    id: Option<String>,
    /// With `true`, it takes the place of a skill of this id.
    overwrite: Option<String>,
    /// With `true`, it is taken although the audit refuses it.
    accept_risk: Option<String>,
    /// With `true`, it is taken although the audit has findings of high severity.
    accept_findings: Option<String>,
}

/// What was imported, or would be.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Imported {
    schema: u32,
    /// The folder's name.
    id: String,
    /// What it calls itself.
    name: String,
    /// What it says it does.
    description: String,
    files: Vec<File>,
    /// What the audit finds.
    findings: Vec<Finding>,
    /// Whether it takes the place of another.
    replaces: bool,
    /// Whether the audit refuses it unless the risk is accepted.
    refused: bool,
    /// Whether the audit has findings of high severity, which have to be accepted.
    needs_confirmation: bool,
    /// What it is now; null while nothing was changed.
    status: Option<&'static str>,
    /// Why it is not offered, where it is not.
    reason: Option<String>,
}

/// A file of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedFile)]
pub(crate) struct File {
    path: String,
    bytes: u64,
}

/// Something that the audit finds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Finding {
    /// The rule.
    rule: &'static str,
    /// How bad it is.
    severity: &'static str,
    /// What it is, for people.
    message: String,
    /// Where.
    path: String,
    line: u32,
    /// Why the user finds it all right; null where they do not say so.
    suppressed: Option<String>,
}

/// Takes an archive or a folder as a user skill: checked, audited, and put in as a whole or not at all.
#[utoipa::path(post, path = "/api/skills/import", tag = "skills", params(How),
    request_body(content = Form, content_type = "multipart/form-data"),
    responses((status = 200, body = Imported, description = "a dry run"), (status = 201, body = Imported),
        (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem),
        (status = 413, body = Problem)))]
pub(crate) async fn import(
    State(app): State<App>,
    _: Admin,
    Query(how): Query<How>,
    request: Request,
) -> Answer<Response> {
    let sent = Sent::read(request).await?;
    let loaded = app.live.now();
    let (work, dry) = (Arc::clone(&loaded), how.dry_run.is_set());
    let mut imported = blocking(move || take(&sent, &work, dry)).await??;
    if dry {
        return Ok(Json(imported).into_response());
    }
    let snapshot = changed(&app, &loaded).await?;
    let own = snapshot.all().iter().filter(|skill| skill.id() == imported.id.as_str());
    let own = own.max_by_key(|skill| skill.root().scope() == prowess::Scope::User);
    if let Some(skill) = own {
        imported.status = Some(skill.status().as_str());
        imported.reason = skill.reason();
    }
    Ok((StatusCode::CREATED, Json(imported)).into_response())
}

fn take(sent: &Sent, loaded: &Loaded, dry: bool) -> Answer<Imported> {
    let (policy, world) = (loaded.registry.policy(), loaded.registry.surroundings());
    let place = Place::own(policy, world).map_err(OwnError::from)?;
    let own = world.home.as_ref().map(|home| home.join(SUPPRESSIONS)).filter(|path| path.exists());
    let list = own.map(|path| suppressions(&path)).transpose()?;
    let judge = Judge { manifest: &policy.manifest, suppressions: list.iter().collect() };
    let known = match policy.scan.identity {
        Identity::Id => Known::ByFolder,
        Identity::Name => Known::ByName,
    };
    let import = Import {
        upload: &sent.upload,
        id: sent.id.as_deref(),
        known,
        // Whoever asks what would happen is told everything.
        overwrite: sent.overwrite || dry,
        accept_risk: sent.accept_risk || dry,
        accept_findings: sent.accept_findings || dry,
    };
    let plan = plan_import(&import, &place, &judge, &Work::default()).map_err(of_sent)?;
    let told = plan.items.first().map(told).ok_or_else(|| Problem::invalid("there is no skill in it"))?;
    if !dry {
        plan.commit().map_err(of_sent)?;
    }
    Ok(told)
}

fn told(item: &Item) -> Imported {
    let prepared = item.prepared.as_ref();
    let file = |file: &prowess::HashedFile| File { path: file.path.clone(), bytes: file.bytes };
    let finding = |found: &prowess_package::audit::Finding| Finding {
        rule: found.rule,
        severity: found.severity.as_str(),
        message: found.message.clone(),
        path: found.path.clone(),
        line: found.line,
        suppressed: found.suppressed.clone(),
    };
    Imported {
        schema: 1,
        id: item.name.clone(),
        name: prepared.map(|prepared| prepared.title.clone()).unwrap_or_default(),
        description: prepared.map(|prepared| prepared.description.clone()).unwrap_or_default(),
        files: prepared.map(|prepared| prepared.tree.files().iter().map(file).collect()).unwrap_or_default(),
        findings: prepared.map(|it| it.verdict.findings.iter().map(finding).collect()).unwrap_or_default(),
        replaces: matches!(item.action, Action::Replace | Action::Keep),
        refused: prepared.is_some_and(|prepared| prepared.verdict.is_refused()),
        needs_confirmation: prepared.is_some_and(|prepared| prepared.verdict.needs_confirmation()),
        status: None,
        reason: None,
    }
}

fn suppressions(path: &std::path::Path) -> Answer<Suppressions> {
    let wrong = |why: String| Problem::new(ErrorCode::Conflict, format!("{}: {why}", path.display()));
    let bytes =
        prowess::read_bounded(path, 256 * 1024).ok_or_else(|| wrong("it cannot be read".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    Suppressions::parse(&text).map_err(|error| wrong(error.to_string()))
}
