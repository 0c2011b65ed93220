//! The prompt, skills that match a message, and completions of a skill name.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::policy::{ActivationMode, CatalogFormat};
use prowess::usage::{self, SkillUsage};
use prowess_routing::{COMPLETIONS_MAX, RouteOptions};
use prowess_tools::{PromptRequest, json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{blocking, schemas};
use crate::app::App;
use crate::extract::QueryString;
use crate::problem::{ApiResult, Problem};

/// The maximum length of a query, in bytes.
const QUERY_MAX: usize = 64 * 1024;

/// The maximum number of matches.
const MATCHES_MAX: usize = 100;

/// Parameters of the prompt.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptParams {
    /// The message. Without one, the prompt is independent of a message.
    query: Option<String>,
    /// `xml`, `json`, `markdown` or `tiers`. The default is the format of the preset.
    #[param(inline)]
    format: Option<Format>,
    /// The maximum number of tokens. The default is the configured budget.
    budget_tokens: Option<u32>,
}

/// A catalog format.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Xml,
    Json,
    Markdown,
    Tiers,
}

/// Returns the exact text about skills that a model receives.
#[utoipa::path(get, path = "/api/prompt", tag = "skills", params(PromptParams),
    responses((status = 200, body = schemas::PromptResponse), (status = 400, body = Problem)))]
pub(crate) async fn prompt(
    State(app): State<App>,
    QueryString(params): QueryString<PromptParams>,
) -> ApiResult<Json<Value>> {
    check_query(params.query.as_deref().unwrap_or_default())?;
    let toolbox = Arc::clone(&app.reloadable.current().toolbox);
    let rendered = blocking(move || {
        let format = params.format.map(|format| match format {
            Format::Xml => CatalogFormat::Xml,
            Format::Json => CatalogFormat::Json,
            Format::Markdown => CatalogFormat::Bullets,
            Format::Tiers => CatalogFormat::Tiers,
        });
        let budget_tokens = params.budget_tokens;
        let request =
            PromptRequest { query: params.query.as_deref(), format, budget_tokens, ..Default::default() };
        let prompt = prowess_tools::render_prompt(&toolbox, &request);
        let mut value = json::prompt_json(&prompt);
        value["tier"] = json!(prompt.routing.as_ref().map(|routing| routing.tier.number()));
        value["entries"] = json!(prompt.plan.shown_names().collect::<Vec<_>>());
        value
    });
    rendered.await.map(Json)
}

/// A query with a limit.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryParams {
    /// The message, or the text typed so far.
    query: String,
    /// The maximum number of results, up to 100.
    #[param(minimum = 1, maximum = 100)]
    k: Option<usize>,
}

/// Returns the skills that match a message, with the reasons.
#[utoipa::path(get, path = "/api/match", tag = "skills", params(QueryParams),
    responses((status = 200, body = schemas::MatchesResponse), (status = 400, body = Problem)))]
pub(crate) async fn matching(
    State(app): State<App>,
    QueryString(params): QueryString<QueryParams>,
) -> ApiResult<Json<Value>> {
    check_query(&params.query)?;
    let k = check_k(params.k, 5)?;
    let toolbox = Arc::clone(&app.reloadable.current().toolbox);
    let matched = blocking(move || {
        let (policy, snapshot) = (toolbox.registry().policy(), toolbox.snapshot());
        let usage = SkillUsage::load(toolbox.registry().host());
        let max_skills = match policy.activation {
            ActivationMode::Pushed { max } => (max as usize).min(k),
            _ => k,
        };
        let options =
            RouteOptions { max_skills, k, usage: &usage, now: usage::now(), mention: policy.mention };
        json::routing_json(&params.query, &toolbox.router(&snapshot).route(&params.query, &options))
    });
    matched.await.map(Json)
}

/// Completions of a skill name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Completions)]
pub(crate) struct CompletionsResponse {
    schema: u32,
    /// The skills, best match first.
    skills: Vec<CompletionJson>,
}

/// A completion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Completion)]
pub(crate) struct CompletionJson {
    /// The name to insert.
    name: String,
    /// A short description.
    description: String,
    /// A hint about the arguments; null if the skill takes none.
    argument_hint: Option<String>,
}

/// Completes a skill name, for the menu that opens with `/`.
#[utoipa::path(get, path = "/api/complete", tag = "skills", params(QueryParams),
    responses((status = 200, body = CompletionsResponse), (status = 400, body = Problem)))]
pub(crate) async fn complete(
    State(app): State<App>,
    QueryString(params): QueryString<QueryParams>,
) -> ApiResult<Json<CompletionsResponse>> {
    check_query(&params.query)?;
    let k = check_k(params.k, COMPLETIONS_MAX)?;
    let toolbox = Arc::clone(&app.reloadable.current().toolbox);
    let completed = blocking(move || {
        let router = toolbox.router(&toolbox.snapshot());
        let completions = router.complete(&params.query).into_iter().take(k).map(|skill| CompletionJson {
            name: skill.name.to_owned(),
            description: skill.description.to_owned(),
            argument_hint: skill.argument_hint.map(str::to_owned),
        });
        completions.collect()
    });
    Ok(Json(CompletionsResponse { schema: 1, skills: completed.await? }))
}

pub(super) fn check_query(query: &str) -> ApiResult<()> {
    match query.len() > QUERY_MAX {
        true => Err(Problem::invalid(format!("the query is longer than {QUERY_MAX} bytes"))),
        false => Ok(()),
    }
}

fn check_k(k: Option<usize>, default: usize) -> ApiResult<usize> {
    match k.unwrap_or(default) {
        0 => Err(Problem::invalid("k must be at least 1")),
        k if k > MATCHES_MAX => Err(Problem::invalid(format!("k must be at check_k {MATCHES_MAX}"))),
        k => Ok(k),
    }
}
