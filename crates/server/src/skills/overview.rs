//! Statistics: sources, statuses, catalog size and usage of skills.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prowess::catalog::DetailLevel;
use prowess::{ErrorCode, Skill, SkillKey, Snapshot};
use prowess_chat::store::SkillUse;
use prowess_tools::json::DiagnosticJson;
use prowess_tools::{PromptRequest, render_prompt, tokens};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::redact::PathRedactor;
use super::{blocking, schemas};
use crate::app::App;
use crate::cache::OverviewInputs;
use crate::guard::Access;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// The number of most used skills to list.
const USED_MAX: usize = 20;

/// The number of costly skills to list.
const COSTLY_MAX: usize = 10;

/// Statistics about all skills.
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
#[schema(as = Overview)]
pub(crate) struct OverviewResponse {
    schema: u32,
    sources: Vec<SourceFiguresJson>,
    /// The number of skills by status.
    statuses: BTreeMap<String, u64>,
    catalog: CatalogFiguresJson,
    most_used: Vec<UsageFiguresJson>,
    /// Available skills that were never used in a chat.
    never_used: Vec<String>,
    /// The available skills whose catalog entries have the most tokens.
    costly: Vec<EntryFiguresJson>,
    /// Errors and warnings.
    problems: Vec<schemas::DiagnosticEntryJson>,
    /// The number of chats.
    chats: u64,
}

/// The skills of one directory.
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
#[schema(as = SourceFigures)]
pub(crate) struct SourceFiguresJson {
    source: String,
    scope: String,
    count: u64,
    by_status: BTreeMap<String, u64>,
}

/// The size of the catalog.
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
#[schema(as = CatalogFigures)]
pub(crate) struct CatalogFiguresJson {
    tokens: u64,
    characters: u64,
    /// The maximum number of tokens; null if there is no limit.
    budget: Option<u64>,
    /// The number of skills in the catalog.
    shown: u64,
    /// The number of skills whose entry was shortened or omitted.
    cut: u64,
}

/// How often a skill was used.
#[derive(ToSchema)]
#[schema(as = Used)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
pub(crate) struct UsageFiguresJson {
    name: String,
    count: u64,
    /// The last use, in milliseconds since 1970.
    last: u64,
}

/// The size of the catalog entry of a skill.
#[derive(ToSchema)]
#[schema(as = EntryFigures)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
pub(crate) struct EntryFiguresJson {
    name: String,
    tokens: u64,
}

/// Returns statistics about all skills.
#[utoipa::path(get, path = "/api/overview", tag = "skills", responses((status = 200, body = OverviewResponse)))]
pub(crate) async fn overview(State(app): State<App>, access: Access) -> ApiResult<Response> {
    let loaded = app.reloadable.current();
    let inputs = OverviewInputs {
        snapshot: loaded.skills().await,
        uses: app.store.skill_uses().await?,
        chats: app.store.chat_count().await?,
        admin: access == Access::Admin,
    };
    let bytes = match loaded.overview.get(&inputs) {
        Some(bytes) => bytes,
        None => blocking(move || render_overview(&loaded, inputs)).await??,
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response())
}

fn render_overview(loaded: &LoadedState, inputs: OverviewInputs) -> ApiResult<Bytes> {
    let catalog = loaded.overview.catalog(&inputs.snapshot, || catalog(loaded));
    let mut figures = statistics(&inputs.snapshot, &inputs.uses, inputs.chats, catalog);
    if !inputs.admin {
        PathRedactor::new(&inputs.snapshot, loaded.registry.host()).redact(&mut figures);
    }
    let bytes = serde_json::to_vec(&figures)
        .map_err(|error| Problem::new(ErrorCode::InternalError, error.to_string()))?;
    let bytes = Bytes::from(bytes);
    loaded.overview.put(inputs, bytes.clone());
    Ok(bytes)
}

/// Returns the size of the catalog.
fn catalog(loaded: &LoadedState) -> Value {
    let prompt = render_prompt(&loaded.toolbox, &PromptRequest::default());
    json!({
        "tokens": tokens::count(&prompt.text),
        "characters": prompt.text.chars().count(),
        "budget": loaded.registry.policy().catalog.token_limit(),
        "shown": prompt.plan.total() - prompt.plan.count(DetailLevel::Omitted),
        "cut": prompt.plan.cuts().count(),
    })
}

fn statistics(snapshot: &Arc<Snapshot>, uses: &[SkillUse], chats: u64, catalog: Value) -> Value {
    let mut statuses: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sources: Vec<(String, &str, BTreeMap<&str, u64>)> = Vec::new();
    for root in snapshot.roots() {
        sources.push((root.path().to_string_lossy().into_owned(), root.scope().as_str(), BTreeMap::new()));
    }
    for skill in snapshot.all() {
        let status = skill.status().as_str();
        *statuses.entry(status).or_default() += 1;
        let source = skill.root().path().to_string_lossy();
        if let Some((.., counts)) = sources.iter_mut().find(|(path, ..)| *path == source) {
            *counts.entry(status).or_default() += 1;
        }
    }
    let sources: Vec<Value> = sources
        .into_iter()
        .map(|(source, scope, counts)| {
            json!({"source": source, "scope": scope, "count": counts.values().sum::<u64>(), "by_status": counts})
        })
        .collect();
    let used_names: HashSet<&str> = uses.iter().map(|used| used.name.as_str()).collect();
    let never_used: Vec<&SkillKey> =
        snapshot.enabled().map(Skill::key).filter(|key| !used_names.contains(key.as_str())).collect();
    let mut used: Vec<&SkillUse> = uses.iter().collect();
    used.sort_by_key(|used| std::cmp::Reverse((used.count, used.last)));
    let used: Vec<Value> = used
        .into_iter()
        .take(USED_MAX)
        .map(|used| json!({"name": used.name, "count": used.count, "last": used.last}))
        .collect();
    let entry = |skill: &Skill| {
        (tokens::count(&format!("{}: {}", skill.name(), skill.full_description())), skill.key().to_string())
    };
    // Models are not shown skills that only people can activate.
    let is_shown =
        |skill: &&Skill| skill.manifest().is_some_and(|manifest| !manifest.disable_model_invocation());
    let mut costly: Vec<(usize, String)> = snapshot.enabled().filter(is_shown).map(entry).collect();
    costly.sort_by(|(a, name), (b, other)| b.cmp(a).then_with(|| name.cmp(other)));
    let costly: Vec<Value> = costly
        .into_iter()
        .take(COSTLY_MAX)
        .map(|(tokens, name)| json!({"name": name, "tokens": tokens}))
        .collect();
    let diagnostics: Vec<_> = snapshot.diagnostics().collect();
    let problems: Vec<_> =
        diagnostics.iter().map(|located| DiagnosticJson::new(&located.path, &located.diagnostic)).collect();
    json!({
        "schema": 1,
        "sources": sources,
        "statuses": statuses,
        "catalog": catalog,
        "most_used": used,
        "never_used": never_used,
        "costly": costly,
        "problems": problems,
        "chats": chats,
    })
}
