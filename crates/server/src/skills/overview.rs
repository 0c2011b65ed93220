//! Figures: where skills come from, what became of them, what they cost, which are used.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use prowess::disclose::Level;
use prowess::{ErrorCode, Snapshot};
use prowess_chat::store::SkillUse;
use prowess_tools::shapes::DiagnosticJson;
use prowess_tools::{PromptRequest, key, prompt, tokens};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::hide::Hide;
use super::{blocking, told};
use crate::app::App;
use crate::cache::Figures;
use crate::guard::Access;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// How many of the most used are told.
const USED_MAX: usize = 20;

/// Figures.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct Overview {
    schema: u32,
    sources: Vec<SourceFigures>,
    /// How many skills have each status.
    statuses: BTreeMap<String, u64>,
    catalog: CatalogFigures,
    most_used: Vec<Used>,
    /// Offered, and never used in a chat.
    never_used: Vec<String>,
    /// Errors and warnings.
    problems: Vec<told::DiagnosticEntry>,
    /// How many chats there are.
    chats: u64,
}

/// Skills of one directory.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct SourceFigures {
    source: String,
    scope: String,
    count: u64,
    by_status: BTreeMap<String, u64>,
}

/// What a model is told of all skills.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct CatalogFigures {
    tokens: u64,
    characters: u64,
    /// The most tokens; null where there is no bound.
    budget: Option<u64>,
    /// How many skills are told of.
    shown: u64,
    /// Of how many less than everything is told.
    cut: u64,
}

/// How often a skill was used.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct Used {
    name: String,
    count: u64,
    /// In milliseconds since 1970.
    last: u64,
}

/// Figures about all skills.
#[utoipa::path(get, path = "/api/overview", tag = "skills", responses((status = 200, body = Overview)))]
pub(crate) async fn overview(State(app): State<App>, access: Access) -> Answer<Response> {
    let loaded = app.live.now();
    let of = Figures {
        snapshot: loaded.skills().await,
        uses: app.store.skill_uses().await?,
        chats: app.store.chat_count().await?,
        admin: access == Access::Admin,
    };
    let bytes = match loaded.overview.get(&of) {
        Some(bytes) => bytes,
        None => blocking(move || make(&loaded, of)).await??,
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response())
}

fn make(loaded: &Loaded, of: Figures) -> Answer<Bytes> {
    let catalog = loaded.overview.catalog(&of.snapshot, || catalog(loaded));
    let mut figures = figures(&of.snapshot, loaded, &of.uses, of.chats, catalog);
    if !of.admin {
        Hide::new(&of.snapshot, loaded.registry.surroundings()).value(&mut figures);
    }
    let bytes = serde_json::to_vec(&figures)
        .map_err(|error| Problem::new(ErrorCode::InternalError, error.to_string()))?;
    let bytes = Bytes::from(bytes);
    loaded.overview.put(of, bytes.clone());
    Ok(bytes)
}

/// What the catalog costs.
fn catalog(loaded: &Loaded) -> Value {
    let made = prompt(&loaded.toolbox, &PromptRequest::default());
    json!({
        "tokens": tokens::count(&made.text),
        "characters": made.text.chars().count(),
        "budget": loaded.registry.policy().catalog.tokens(),
        "shown": made.plan.total() - made.plan.count(Level::Omitted),
        "cut": made.plan.cuts().count(),
    })
}

fn figures(
    snapshot: &Arc<Snapshot>,
    loaded: &Loaded,
    uses: &[SkillUse],
    chats: u64,
    catalog: Value,
) -> Value {
    let policy = loaded.registry.policy();
    let mut statuses: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sources: Vec<(String, &str, BTreeMap<&str, u64>)> = Vec::new();
    for root in snapshot.roots() {
        sources.push((root.path().to_string_lossy().into_owned(), root.scope().as_str(), BTreeMap::new()));
    }
    for skill in snapshot.all() {
        let status = skill.status().as_str();
        *statuses.entry(status).or_default() += 1;
        let source = skill.root().path().to_string_lossy();
        if let Some((.., by)) = sources.iter_mut().find(|(known, ..)| *known == source) {
            *by.entry(status).or_default() += 1;
        }
    }
    let sources: Vec<Value> = sources
        .into_iter()
        .map(|(source, scope, by)| {
            json!({"source": source, "scope": scope, "count": by.values().sum::<u64>(), "by_status": by})
        })
        .collect();
    let known: HashSet<&str> = uses.iter().map(|used| used.name.as_str()).collect();
    let never: Vec<String> = snapshot
        .enabled()
        .map(|skill| key(skill, policy).into_owned())
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    let mut used: Vec<&SkillUse> = uses.iter().collect();
    used.sort_by_key(|used| std::cmp::Reverse((used.count, used.last)));
    let used: Vec<Value> = used
        .into_iter()
        .take(USED_MAX)
        .map(|used| json!({"name": used.name, "count": used.count, "last": used.last}))
        .collect();
    let said: Vec<_> = snapshot.diagnostics().collect();
    let problems: Vec<_> =
        said.iter().map(|located| DiagnosticJson::new(&located.path, &located.diagnostic)).collect();
    json!({
        "schema": 1,
        "sources": sources,
        "statuses": statuses,
        "catalog": catalog,
        "most_used": used,
        "never_used": never,
        "problems": problems,
        "chats": chats,
    })
}
