//! Imports an uploaded archive or directory as a user skill.

use std::sync::Arc;

use axum::Json;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use prowess::policy::SkillIdentity;
use prowess::{ErrorCode, HostEnv};
use prowess_package::audit::Suppressions;
use prowess_package::user_skills::UserSkillError;
use prowess_package::{
    IdentifiedBy, ImportRequest, InstallChecks, InstallPlan, InstallTarget, PlanAction, PlanItem, Task,
    plan_import,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::errors::upload_problem;
use super::planned::{FindingJson, PlannedFileJson, TEXTS_MAX, describe_files, finding_json};
use super::upload_form::{REQUEST_MAX, UploadForm};
use super::{blocking, refresh_after_change};
use crate::app::App;
use crate::extract::{Flag, QueryString};
use crate::guard::Admin;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// The user's file of accepted audit findings.
const SUPPRESSIONS: &str = ".prowess/audit.toml";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(import)).layer(DefaultBodyLimit::max(REQUEST_MAX))
}

/// Parameters of an import.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportParams {
    /// `1` changes nothing and returns what would happen.
    #[serde(default)]
    #[param(value_type = Option<String>, example = "1")]
    dry_run: Flag,
}

/// The upload form.
#[derive(ToSchema)]
#[schema(as = Form)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
pub(crate) struct ImportForm {
    /// One archive (`.zip`, `.skill`, `.tar.gz`), or one part per file of a directory, with its path as the file name.
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<Vec<u8>>,
    /// The id of the skill. The default is its name or its directory name.
    id: Option<String>,
    /// `true` replaces an existing skill with this id.
    overwrite: Option<String>,
    /// `true` imports the skill even if the audit rejects it.
    accept_risk: Option<String>,
    /// `true` imports the skill even if the audit has findings of high severity.
    accept_findings: Option<String>,
}

/// The imported skill, or the skill that would be imported.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Imported)]
pub(crate) struct ImportedSkillResponse {
    schema: u32,
    /// The directory name.
    id: String,
    /// The name in its frontmatter.
    name: String,
    /// Its description.
    description: String,
    files: Vec<PlannedFileJson>,
    /// What its files can access: `scripts`, `hosts`, `tools` and `env`.
    capabilities: Value,
    /// The audit findings.
    findings: Vec<FindingJson>,
    /// Whether it replaces an existing skill.
    replaces: bool,
    /// Whether the audit rejects it unless the risk is accepted.
    refused: bool,
    /// Whether the audit has findings of high severity, which must be accepted.
    needs_confirmation: bool,
    /// Its status; null in a dry run.
    status: Option<&'static str>,
    /// Why it is not available, if it is not.
    reason: Option<String>,
}

/// Imports an archive or a directory as a user skill. It is checked and audited, and installed completely or not at all.
#[utoipa::path(post, path = "/api/skills/import", tag = "skills", params(ImportParams),
    request_body(content = ImportForm, content_type = "multipart/form-data"),
    responses((status = 200, body = ImportedSkillResponse, description = "Dry run"), (status = 201, body = ImportedSkillResponse),
        (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem),
        (status = 413, body = Problem)))]
pub(crate) async fn import(
    State(app): State<App>,
    _: Admin,
    QueryString(params): QueryString<ImportParams>,
    request: Request,
) -> ApiResult<Response> {
    let form = UploadForm::read(request).await?;
    let loaded = app.reloadable.current();
    let (work, dry_run) = (Arc::clone(&loaded), params.dry_run.is_set());
    let mut imported = blocking(move || import_upload(&form, &work, dry_run)).await??;
    if dry_run {
        return Ok(Json(imported).into_response());
    }
    let snapshot = refresh_after_change(&app, &loaded).await?;
    let candidates = snapshot.all().iter().filter(|skill| skill.id() == imported.id.as_str());
    let imported_skill = candidates.max_by_key(|skill| skill.root().scope() == prowess::Scope::User);
    if let Some(skill) = imported_skill {
        imported.status = Some(skill.status().as_str());
        imported.reason = skill.reason();
    }
    Ok((StatusCode::CREATED, Json(imported)).into_response())
}

fn import_upload(form: &UploadForm, loaded: &LoadedState, dry_run: bool) -> ApiResult<ImportedSkillResponse> {
    let (policy, host) = (loaded.registry.policy(), loaded.registry.host());
    let target = InstallTarget::user_skills(policy, host).map_err(UserSkillError::from)?;
    let list = user_suppressions(host)?;
    let checks = InstallChecks { rules: &policy.manifest, suppressions: list.iter().collect() };
    let identified_by = match policy.scan.identity {
        SkillIdentity::Id => IdentifiedBy::Directory,
        SkillIdentity::Name => IdentifiedBy::Name,
    };
    let import = ImportRequest {
        upload: &form.upload,
        id: form.id.as_deref(),
        identified_by,
        // A dry run reports everything instead of stopping at the first obstacle.
        overwrite: form.overwrite || dry_run,
        accept_risk: form.accept_risk || dry_run,
        accept_findings: form.accept_findings || dry_run,
    };
    let plan = plan_import(&import, &target, &checks, &Task::default()).map_err(upload_problem)?;
    let imported = plan
        .items
        .first()
        .map(|item| imported_skill(item, &plan))
        .ok_or_else(|| Problem::invalid("the upload contains no skill"))?;
    if !dry_run {
        plan.commit().map_err(upload_problem)?;
    }
    Ok(imported)
}

fn imported_skill(item: &PlanItem, plan: &InstallPlan) -> ImportedSkillResponse {
    let prepared = item.prepared.as_ref();
    let mut bytes_left = TEXTS_MAX;
    ImportedSkillResponse {
        schema: 1,
        id: item.name.clone(),
        name: prepared.map(|prepared| prepared.title.clone()).unwrap_or_default(),
        description: prepared.map(|prepared| prepared.description.clone()).unwrap_or_default(),
        files: describe_files(item, plan, &mut bytes_left),
        capabilities: json!(prepared.map(|prepared| &prepared.capabilities)),
        findings: prepared
            .map(|prepared| prepared.verdict.findings.iter().map(finding_json).collect())
            .unwrap_or_default(),
        replaces: matches!(item.action, PlanAction::Replace | PlanAction::Keep),
        refused: prepared.is_some_and(|prepared| prepared.verdict.blocks_install()),
        needs_confirmation: prepared.is_some_and(|prepared| prepared.verdict.needs_confirmation()),
        status: None,
        reason: None,
    }
}

/// Returns the findings that the user accepted.
pub(super) fn user_suppressions(host: &HostEnv) -> ApiResult<Option<Suppressions>> {
    let file = host.home.as_ref().map(|home| home.join(SUPPRESSIONS)).filter(|path| path.exists());
    file.map(|path| suppressions(&path)).transpose()
}

fn suppressions(path: &std::path::Path) -> ApiResult<Suppressions> {
    let problem = |reason: String| Problem::new(ErrorCode::Conflict, format!("{}: {reason}", path.display()));
    let bytes =
        prowess::read_bounded(path, 256 * 1024).ok_or_else(|| problem("cannot read the file".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| problem("the file is not UTF-8".to_owned()))?;
    Suppressions::parse(&text).map_err(|error| problem(error.to_string()))
}
