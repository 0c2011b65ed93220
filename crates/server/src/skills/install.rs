//! Installs skills from repositories, archives on the web and sites, and updates installed skills.
//!
//! Both operations have a dry run, which returns every file, finding and capability. The client sends the tree hashes of the dry run
//! back, so that exactly what was shown is installed.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use prowess::format::hidden::escape_for_display;
use prowess_package::source::{Source, parse_source};
use prowess_package::user_skills::UserSkillError;
use prowess_package::{
    Candidate, InstallChecks, InstallConflict, InstallPlan, InstallRequest, InstallTarget, OnConflict,
    OnInvalid, PackageError, PlanAction, PlanItem, PreparedSkill, Prompter, SkillChoice, Task, plan_install,
    plan_update,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::errors::upload_problem;
use super::import::user_suppressions;
use super::planned::{FindingJson, PlannedFileJson, TEXTS_MAX, describe_files, finding_json};
use super::{blocking, refresh_after_change};
use crate::app::App;
use crate::extract::JsonBody;
use crate::guard::Admin;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// What to install.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Install)]
pub(crate) struct InstallBody {
    /// A git repository (`owner/repo` or a URL), the URL of an archive, or a site with an index of skills.
    #[schema(min_length = 1, max_length = 2048)]
    source: String,
    /// The branch, tag or commit of a repository.
    reference: Option<String>,
    /// The skills to install. The default is all.
    skills: Option<Vec<String>>,
    /// Changes nothing and returns what would happen.
    #[serde(default)]
    dry_run: bool,
    /// What the user confirmed.
    #[serde(default)]
    accept: Accepted,
}

/// Which installed skills to update.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Update)]
pub(crate) struct UpdateBody {
    /// The skills to update. The default is all.
    skills: Option<Vec<String>>,
    /// Changes nothing and returns what would happen.
    #[serde(default)]
    dry_run: bool,
    /// What the user confirmed.
    #[serde(default)]
    accept: Accepted,
}

/// What the user confirmed.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = Accepted)]
pub(crate) struct Accepted {
    /// Replaces existing skills.
    overwrite: bool,
    /// Installs skills with findings of high severity.
    findings: bool,
    /// Installs skills that the audit rejects.
    risk: bool,
    /// The tree hashes of the dry run, by skill. If the source has changed since, nothing is installed.
    trees: BTreeMap<String, String>,
}

/// The skills that were or would be installed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InstallPlan)]
pub(crate) struct InstallResponse {
    schema: u32,
    skills: Vec<PlannedSkillJson>,
}

/// The change of one skill.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlannedSkill)]
pub(crate) struct PlannedSkillJson {
    /// The directory name.
    id: String,
    /// The name in its frontmatter.
    name: String,
    description: String,
    /// `installed`, `updated`, `unchanged`, `removed`, `skipped` or `failed`.
    action: &'static str,
    /// Why it is skipped or fails.
    reason: Option<String>,
    /// The tree hash, to send with the installation.
    tree: Option<String>,
    /// The commit, for a repository.
    commit: Option<String>,
    files: Vec<PlannedFileJson>,
    findings: Vec<FindingJson>,
    /// What its files can access: `scripts`, `hosts`, `tools` and `env`.
    capabilities: Value,
    /// The capabilities that the installed version does not have; null for a new skill.
    gained: Option<Value>,
    /// Whether the audit rejects it unless the risk is accepted.
    refused: bool,
    /// Whether the audit has findings of high severity, which must be accepted.
    needs_confirmation: bool,
}

/// Installs skills from a repository, an archive on the web or a site, completely or not at all.
#[utoipa::path(post, path = "/api/skills/install", tag = "skills", request_body = InstallBody,
    responses((status = 200, body = InstallResponse), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn install(
    State(app): State<App>,
    _: Admin,
    JsonBody(body): JsonBody<InstallBody>,
) -> ApiResult<Json<InstallResponse>> {
    let InstallBody { source, reference, skills, dry_run, accept } = body;
    let source = remote_source(&source)?;
    let skills = match (skills, &source) {
        (Some(names), _) => SkillChoice::Named(names),
        (None, Source::Git { skill: Some(skill), .. }) => SkillChoice::Named(vec![skill.clone()]),
        (None, _) => SkillChoice::All,
    };
    let on_invalid = if dry_run { OnInvalid::Skip } else { OnInvalid::Stop };
    let request = InstallRequest {
        source,
        reference,
        name: None,
        skills,
        plugins: Vec::new(),
        file_urls: app.file_urls,
        on_invalid,
    };
    perform(app, dry_run, accept, move |target, checks, answers, task| {
        plan_install(&request, target, checks, answers, task)
    })
    .await
}

/// Updates installed skills from their sources, completely or not at all.
#[utoipa::path(post, path = "/api/skills/update", tag = "skills", request_body = UpdateBody,
    responses((status = 200, body = InstallResponse), (status = 403, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn update(
    State(app): State<App>,
    _: Admin,
    JsonBody(body): JsonBody<UpdateBody>,
) -> ApiResult<Json<InstallResponse>> {
    let UpdateBody { skills, dry_run, accept } = body;
    let (names, file_urls) = (skills.unwrap_or_default(), app.file_urls);
    perform(app, dry_run, accept, move |target, checks, answers, task| {
        plan_update(&names, target, checks, answers, file_urls, task)
    })
    .await
}

/// Plans the change, and makes it unless this is a dry run.
async fn perform(
    app: App,
    dry_run: bool,
    accept: Accepted,
    plan: impl FnOnce(
        &InstallTarget,
        &InstallChecks<'_>,
        &mut GivenAnswers,
        &Arc<Task>,
    ) -> Result<InstallPlan, PackageError>
    + Send
    + 'static,
) -> ApiResult<Json<InstallResponse>> {
    let loaded = app.reloadable.current();
    let work = Arc::clone(&loaded);
    let planned = blocking(move || plan_and_commit(&work, dry_run, &accept, plan)).await??;
    if !dry_run {
        refresh_after_change(&app, &loaded).await?;
    }
    Ok(Json(planned))
}

fn plan_and_commit(
    loaded: &LoadedState,
    dry_run: bool,
    accept: &Accepted,
    plan: impl FnOnce(
        &InstallTarget,
        &InstallChecks<'_>,
        &mut GivenAnswers,
        &Arc<Task>,
    ) -> Result<InstallPlan, PackageError>,
) -> ApiResult<InstallResponse> {
    let (policy, host) = (loaded.registry.policy(), loaded.registry.host());
    let target = InstallTarget::user_skills(policy, host).map_err(UserSkillError::from)?;
    let list = user_suppressions(host)?;
    let checks = InstallChecks { rules: &policy.manifest, suppressions: list.iter().collect() };
    // A dry run accepts everything, to report it.
    let mut given = GivenAnswers {
        overwrite: accept.overwrite || dry_run,
        accept_risk: accept.risk || dry_run,
        accept_findings: accept.findings || accept.risk || dry_run,
    };
    let plan = plan(&target, &checks, &mut given, &Arc::new(Task::default())).map_err(upload_problem)?;
    let response = describe(&plan);
    if dry_run {
        return Ok(response);
    }
    check_trees(&response, &accept.trees)?;
    plan.commit().map_err(upload_problem)?;
    Ok(response)
}

/// Fails if a skill is not the one of the dry run.
fn check_trees(response: &InstallResponse, trees: &BTreeMap<String, String>) -> ApiResult<()> {
    let differs = |skill: &&PlannedSkillJson| {
        trees.get(&skill.id).is_some_and(|expected| Some(expected) != skill.tree.as_ref())
    };
    match response.skills.iter().find(differs) {
        Some(skill) => {
            let detail =
                format!("{} has changed at its source; review it again", escape_for_display(&skill.id));
            Err(Problem::new(ErrorCode::Conflict, detail))
        }
        None => Ok(()),
    }
}

/// Parses a source that is not on this machine: the client may be elsewhere.
fn remote_source(text: &str) -> ApiResult<Source> {
    let source = parse_source(text.trim(), |_| None)
        .map_err(|error| Problem::invalid(format!("invalid source: {error}")))?;
    match source {
        Source::Directory(_) | Source::Archive(_) => Err(Problem::invalid(
            "the source must be a repository, the URL of an archive or a site; import files of this machine instead",
        )),
        Source::Git { .. } | Source::ArchiveUrl(_) | Source::Site(_) => Ok(source),
    }
}

/// The answers of the client.
struct GivenAnswers {
    overwrite: bool,
    accept_risk: bool,
    accept_findings: bool,
}

impl Prompter for GivenAnswers {
    fn pick_skills(&mut self, _: &str, candidates: &[Candidate]) -> Result<Vec<usize>, PackageError> {
        Ok((0..candidates.len()).collect())
    }

    fn resolve_conflict(&mut self, conflict: &InstallConflict<'_>) -> Result<OnConflict, PackageError> {
        match self.overwrite {
            true => Ok(OnConflict::Overwrite),
            false => Err(PackageError::AlreadyExists(conflict.dir.to_owned())),
        }
    }

    fn accept_risk(&mut self, _: &PreparedSkill) -> Result<bool, PackageError> {
        Ok(self.accept_risk)
    }

    fn confirm_findings(&mut self, _: &PreparedSkill) -> Result<bool, PackageError> {
        Ok(self.accept_findings)
    }

    fn accept_increase(&mut self, _: &PlanItem) -> Result<bool, PackageError> {
        // The client has seen the new capabilities in the dry run.
        Ok(true)
    }

    fn accept_removal(&mut self, _: &PlanItem) -> Result<bool, PackageError> {
        Ok(false)
    }
}

fn describe(plan: &InstallPlan) -> InstallResponse {
    let mut bytes_left = TEXTS_MAX;
    let skills = plan.items.iter().map(|item| describe_item(item, plan, &mut bytes_left)).collect();
    InstallResponse { schema: 1, skills }
}

fn describe_item(item: &PlanItem, plan: &InstallPlan, bytes_left: &mut usize) -> PlannedSkillJson {
    let prepared = item.prepared.as_ref();
    let reason = match &item.action {
        PlanAction::Skip(reason) | PlanAction::Fail(reason) => Some(reason.clone()),
        PlanAction::Add | PlanAction::Replace | PlanAction::Remove | PlanAction::Keep => None,
    };
    let verdict = prepared.map(|prepared| &prepared.verdict);
    PlannedSkillJson {
        id: item.name.clone(),
        name: prepared.map_or_else(|| item.name.clone(), |prepared| prepared.title.clone()),
        description: prepared.map(|prepared| prepared.description.clone()).unwrap_or_default(),
        action: item.action.as_str(),
        reason,
        tree: prepared.map(|prepared| prepared.tree.hash()),
        commit: item.after.as_ref().and_then(|after| after.commit.clone()),
        files: describe_files(item, plan, bytes_left),
        findings: verdict
            .map(|verdict| verdict.findings.iter().map(finding_json).collect())
            .unwrap_or_default(),
        capabilities: json!(prepared.map(|prepared| &prepared.capabilities)),
        gained: item.changes().map(|changes| json!(changes.gained)),
        refused: verdict.is_some_and(|verdict| verdict.blocks_install()),
        needs_confirmation: verdict.is_some_and(|verdict| verdict.needs_confirmation()),
    }
}
