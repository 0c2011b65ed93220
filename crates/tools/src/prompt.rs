//! Builds the part of the system prompt about skills: the catalog, its rules, and the active skills.

use std::sync::Arc;

use prowess::activation::activate;
use prowess::catalog::{
    Catalog, CatalogPlan, DisclosureTier, SKILL_TOOL_RULES, active_skills, render_catalog,
};
use prowess::known_files::KnownFiles;
use prowess::policy::{ActivationMode, CatalogFormat, LocationVisibility};
use prowess::usage::{self, SkillUsage};
use prowess::{Skill, Snapshot};
use prowess_routing::{MatchKind, RouteOptions, Routing, Tier};

use crate::catalog_cache::{CatalogKey, CutOrder};
use crate::session::Session;
use crate::toolbox::Toolbox;

/// Parameters of a prompt that override the policy.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromptRequest<'a> {
    /// The user's message.
    pub query: Option<&'a str>,
    /// The catalog format, if not the policy's.
    pub format: Option<CatalogFormat>,
    /// Whether to include locations even if the policy does not.
    pub location: bool,
    /// The maximum number of characters, instead of the policy's limits.
    pub budget_chars: Option<u32>,
    /// The maximum number of tokens, instead of the policy's limits.
    pub budget_tokens: Option<u32>,
    /// The files that the conversation is about, besides those that the message names.
    pub files: &'a [String],
    /// The name of the tool that the note about cuts refers to, if there is one.
    pub search_tool: Option<&'static str>,
}

/// A prompt, its plan and routing.
#[derive(Debug, Clone)]
pub struct RenderedPrompt {
    /// The text for the model.
    pub text: String,
    /// How much of each skill is shown.
    pub plan: CatalogPlan,
    /// The skills that match the query, if there is one.
    pub routing: Option<Routing>,
}

/// Renders the prompt that a model is shown for the skills of a toolbox.
pub fn render_prompt(toolbox: &Toolbox, request: &PromptRequest<'_>) -> RenderedPrompt {
    let BuiltCatalog { catalog, routing, .. } = build_catalog(toolbox, request);
    let Catalog { text, plan } = Arc::unwrap_or_clone(catalog);
    RenderedPrompt { text, plan, routing }
}

/// The catalog of a prompt, and how the query was routed.
struct BuiltCatalog {
    catalog: Arc<Catalog>,
    routing: Option<Routing>,
    /// The skills whose instructions the catalog may contain.
    pushed: Vec<String>,
}

/// Returns the catalog of a prompt, and the skills that match the query.
fn build_catalog(toolbox: &Toolbox, request: &PromptRequest<'_>) -> BuiltCatalog {
    let (snapshot, policy) = (toolbox.snapshot(), toolbox.registry().policy());
    let usage = SkillUsage::load(toolbox.registry().host());
    let format = request.format.unwrap_or(policy.catalog.format);
    let files = known_files(toolbox, request);
    let routing = request.query.map(|query| route(toolbox, &snapshot, query, &files, &usage));
    let with_paths = skills_with_paths(&snapshot, &files, routing.as_ref());
    let relevant = routing
        .iter()
        .flat_map(|routing| routing.matches.iter().map(|matched| matched.name.clone()))
        .collect();
    // Requested limits replace all limits of the policy.
    let has_limits = request.budget_chars.is_some() || request.budget_tokens.is_some();
    let (chars, tokens) = match has_limits {
        true => (request.budget_chars, request.budget_tokens),
        false => (policy.catalog.budget_chars, policy.catalog.token_limit()),
    };
    let key = CatalogKey {
        format,
        location: if request.location { LocationVisibility::Shown } else { policy.catalog.location },
        chars,
        tokens,
        order: CutOrder { relevant, recent: usage.recent(16) },
        with_paths,
        search_tool: request.search_tool,
    };
    let (catalog, pushed) = match format {
        CatalogFormat::Tiers => tiered_catalog(&snapshot, toolbox, routing.as_ref(), key),
        CatalogFormat::Xml | CatalogFormat::Json | CatalogFormat::Bullets | CatalogFormat::Tool => {
            (full_catalog(&snapshot, toolbox, key), Vec::new())
        }
    };
    BuiltCatalog { catalog, routing, pushed }
}

/// Returns the catalog of all skills.
fn full_catalog(snapshot: &Arc<Snapshot>, toolbox: &Toolbox, key: CatalogKey) -> Arc<Catalog> {
    let policy = toolbox.registry().policy();
    toolbox.catalogs.get(snapshot, key, |key| render_catalog(snapshot, policy, &key.request()))
}

/// Returns the files that a prompt is about.
fn known_files(toolbox: &Toolbox, request: &PromptRequest<'_>) -> KnownFiles {
    let project = &toolbox.registry().host().project;
    let mut files = KnownFiles::in_message(request.query.unwrap_or_default(), project);
    request.files.iter().for_each(|path| files.add_path(path, project));
    files
}

/// Returns the skills with `paths` that are offered: for one of the files, or because the message mentions them.
fn skills_with_paths(snapshot: &Snapshot, files: &KnownFiles, routing: Option<&Routing>) -> Vec<String> {
    let is_mentioned = |skill: &Skill| {
        let mut matches = routing.iter().flat_map(|routing| &routing.matches);
        matches.any(|matched| matched.kind == MatchKind::Explicit && *matched.name == **skill.key())
    };
    let has_paths = |skill: &&Skill| skill.manifest().is_some_and(|manifest| !manifest.paths().is_empty());
    let offered =
        snapshot.enabled().filter(has_paths).filter(|skill| files.allow(skill) || is_mentioned(skill));
    offered.map(|skill| skill.key().into()).collect()
}

fn route(
    toolbox: &Toolbox,
    snapshot: &Arc<Snapshot>,
    query: &str,
    files: &KnownFiles,
    usage: &SkillUsage,
) -> Routing {
    let policy = toolbox.registry().policy();
    let max = match policy.activation {
        ActivationMode::Pushed { max } => max as usize,
        _ => 3,
    };
    let options = RouteOptions { max_skills: max, k: 16, usage, now: usage::now(), mention: policy.mention };
    toolbox.router(snapshot).route_for_files(query, files, &options)
}

/// Returns the catalog with the tier (how much to show: nothing, a count, names or whole skills) that the query needs,
/// and the names of whole skills; without a query, names and brief descriptions.
fn tiered_catalog(
    snapshot: &Arc<Snapshot>,
    toolbox: &Toolbox,
    routing: Option<&Routing>,
    key: CatalogKey,
) -> (Arc<Catalog>, Vec<String>) {
    let policy = toolbox.registry().policy();
    let mut full = Vec::new();
    let tier = match routing.map(|routing| routing.tier) {
        None | Some(Tier::Registry) => return (full_catalog(snapshot, toolbox, key), Vec::new()),
        Some(Tier::Nothing) => DisclosureTier::Nothing,
        Some(Tier::Breadcrumb) => DisclosureTier::Count,
        Some(Tier::Full) => {
            let names = routing
                .iter()
                .flat_map(|routing| routing.full_matches().iter().map(|matched| matched.name.as_str()));
            full.extend(names.filter_map(|name| {
                // Text of remote skills must not be part of the system prompt; the model may load it by itself.
                let skill = snapshot.get(name).filter(|skill| skill.remote().is_none())?;
                Some((name.to_owned(), activate(skill, None, policy).ok()?.content()))
            }));
            if full.is_empty() {
                return (full_catalog(snapshot, toolbox, key), Vec::new());
            }
            DisclosureTier::Full(&full)
        }
    };
    let text = tier.render(snapshot, policy, &key.request());
    let pushed = full.into_iter().map(|(name, _)| name).collect();
    (Arc::new(Catalog { text, plan: CatalogPlan::default() }), pushed)
}

/// Returns the system prompt of a turn: the catalog, its rules, and the active skills.
pub fn system_prompt(toolbox: &Toolbox, session: &Session, query: Option<&str>) -> String {
    if !toolbox.registry().policy().enabled {
        return String::new();
    }
    let BuiltCatalog { catalog, pushed, .. } =
        build_catalog(toolbox, &PromptRequest { query, files: &session.files, ..PromptRequest::default() });
    if query.is_some() {
        // Skills whose instructions the prompt may contain count as active.
        session.set_pushed(pushed);
    }
    let mut text = catalog.text.clone();
    if !text.is_empty() && toolbox.registry().policy().activation == ActivationMode::SkillTool {
        text = format!("{SKILL_TOOL_RULES}\n\n{text}");
    }
    text.push_str(&active_skills(session.ledger.names()));
    text
}
