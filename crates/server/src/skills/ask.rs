//! What a model is shown of skills, which of them answer a message, and which a name could mean.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::policy::{Activation, CatalogFormat};
use prowess::usage::{self, Usage};
use prowess_routing::{COMPLETIONS_MAX, Options};
use prowess_tools::{PromptRequest, shapes};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{blocking, told};
use crate::app::App;
use crate::asked::Query;
use crate::problem::{Answer, Problem};

/// The longest query, in bytes.
const QUERY_MAX: usize = 64 * 1024;

/// The most matches.
const MATCHES_MAX: usize = 100;

/// For which message, and how.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct For {
    /// The message; without one, what is told of skills in any case.
    query: Option<String>,
    /// `xml`, `json`, `markdown` or `tiers`, if not what the preset has.
    #[param(inline)]
    format: Option<Format>,
    /// The most tokens, if not what the settings say.
    budget_tokens: Option<u32>,
}

/// A form of the catalog.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Xml,
    Json,
    Markdown,
    Tiers,
}

/// Exactly what a model is shown of skills.
#[utoipa::path(get, path = "/api/prompt", tag = "skills", params(For),
    responses((status = 200, body = told::Prompt), (status = 400, body = Problem)))]
pub(crate) async fn prompt(State(app): State<App>, Query(wanted): Query<For>) -> Answer<Json<Value>> {
    bounded(wanted.query.as_deref().unwrap_or_default())?;
    let toolbox = Arc::clone(&app.live.now().toolbox);
    let made = blocking(move || {
        let format = wanted.format.map(|format| match format {
            Format::Xml => CatalogFormat::Xml,
            Format::Json => CatalogFormat::Json,
            Format::Markdown => CatalogFormat::Bullets,
            Format::Tiers => CatalogFormat::Tiers,
        });
        let budget_tokens = wanted.budget_tokens;
        let request =
            PromptRequest { query: wanted.query.as_deref(), format, budget_tokens, ..Default::default() };
        let made = prowess_tools::prompt(&toolbox, &request);
        let mut answer = shapes::prompted(&made);
        answer["tier"] = json!(made.routing.as_ref().map(|routing| routing.tier.number()));
        answer["entries"] = json!(made.plan.told().collect::<Vec<_>>());
        answer
    });
    made.await.map(Json)
}

/// Which message, and how many answers.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// What a person says, or types.
    query: String,
    /// How many, at most 100.
    #[param(minimum = 1, maximum = 100)]
    k: Option<usize>,
}

/// Which skills answer a message, and why.
#[utoipa::path(get, path = "/api/match", tag = "skills", params(Asked),
    responses((status = 200, body = told::Matches), (status = 400, body = Problem)))]
pub(crate) async fn matching(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Json<Value>> {
    bounded(&asked.query)?;
    let k = most(asked.k, 5)?;
    let toolbox = Arc::clone(&app.live.now().toolbox);
    let matched = blocking(move || {
        let (policy, snapshot) = (toolbox.registry().policy(), toolbox.snapshot());
        let usage = Usage::load(toolbox.registry().surroundings());
        let max_skills = match policy.activation {
            Activation::Pushed { max } => (max as usize).min(k),
            _ => k,
        };
        let options = Options { max_skills, k, usage: &usage, now: usage::now(), mention: policy.mention };
        shapes::routed(&asked.query, &toolbox.router(&snapshot).route(&asked.query, &options))
    });
    matched.await.map(Json)
}

/// Skills that could be meant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Completions {
    schema: u32,
    /// The best first.
    skills: Vec<Completion>,
}

/// One of them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Completion {
    /// What to write.
    name: String,
    /// What it does, in brief.
    description: String,
    /// What to write behind the name; null where nothing is wanted.
    argument_hint: Option<String>,
}

/// The skills that what was typed so far could mean, for the list behind `/`.
#[utoipa::path(get, path = "/api/complete", tag = "skills", params(Asked),
    responses((status = 200, body = Completions), (status = 400, body = Problem)))]
pub(crate) async fn complete(
    State(app): State<App>,
    Query(asked): Query<Asked>,
) -> Answer<Json<Completions>> {
    bounded(&asked.query)?;
    let k = most(asked.k, COMPLETIONS_MAX)?;
    let toolbox = Arc::clone(&app.live.now().toolbox);
    let completed = blocking(move || {
        let router = toolbox.router(&toolbox.snapshot());
        let found = router.complete(&asked.query).into_iter().take(k).map(|found| Completion {
            name: found.name.to_owned(),
            description: found.description.to_owned(),
            argument_hint: found.argument_hint.map(str::to_owned),
        });
        found.collect()
    });
    Ok(Json(Completions { schema: 1, skills: completed.await? }))
}

pub(super) fn bounded(query: &str) -> Answer<()> {
    match query.len() > QUERY_MAX {
        true => Err(Problem::invalid(format!("the query has more than {QUERY_MAX} bytes"))),
        false => Ok(()),
    }
}

fn most(asked: Option<usize>, usual: usize) -> Answer<usize> {
    match asked.unwrap_or(usual) {
        0 => Err(Problem::invalid("k is at least 1")),
        asked if asked > MATCHES_MAX => Err(Problem::invalid(format!("k is at most {MATCHES_MAX}"))),
        asked => Ok(asked),
    }
}
