//! The whole of what a model is told before it answers.

use std::sync::Arc;

use prowess::Snapshot;
use prowess::activate::activate;
use prowess::disclose::{Catalog, Plan, SKILL_TOOL_RULES, Tiers, active_skills, catalog};
use prowess::policy::{Activation, CatalogFormat, Location};
use prowess::usage::{self, Usage};
use prowess_routing::{Options, Routing, Tier};

use crate::catalogs::{Order, Wanted};
use crate::session::Session;
use crate::toolbox::Toolbox;

/// What may be asked of a prompt besides what the policy says.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromptRequest<'a> {
    /// The user's message.
    pub query: Option<&'a str>,
    /// Another form than the policy's.
    pub format: Option<CatalogFormat>,
    /// Locations even where the policy has none.
    pub location: bool,
    /// Another bound on characters.
    pub budget_chars: Option<u32>,
    /// Another bound on tokens.
    pub budget_tokens: Option<u32>,
}

/// A prompt and how it came about.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// What the model is shown.
    pub text: String,
    /// What was decided about each skill of the catalog.
    pub plan: Plan,
    /// Which skills the query asks for, if there was one.
    pub routing: Option<Routing>,
}

/// Exactly what a model is shown of the skills of a toolbox.
pub fn prompt(toolbox: &Toolbox, request: &PromptRequest<'_>) -> Prompt {
    let (made, routing) = made(toolbox, request);
    let Catalog { text, plan } = Arc::unwrap_or_clone(made);
    Prompt { text, plan, routing }
}

/// The text and the plan of a prompt, and which skills the query asks for.
fn made(toolbox: &Toolbox, request: &PromptRequest<'_>) -> (Arc<Catalog>, Option<Routing>) {
    let (snapshot, policy) = (toolbox.snapshot(), toolbox.registry().policy());
    let usage = Usage::load(toolbox.registry().surroundings());
    let format = request.format.unwrap_or(policy.catalog.format);
    let routing = request.query.map(|query| route(toolbox, &snapshot, query, &usage));
    let relevant =
        routing.iter().flat_map(|routing| routing.matches.iter().map(|found| found.name.clone())).collect();
    // A bound that is asked for takes the place of those that the policy has.
    let asked = request.budget_chars.is_some() || request.budget_tokens.is_some();
    let (chars, tokens) = match asked {
        true => (request.budget_chars, request.budget_tokens),
        false => (policy.catalog.budget_chars, policy.catalog.tokens()),
    };
    let wanted = Wanted {
        format,
        location: if request.location { Location::Shown } else { policy.catalog.location },
        chars,
        tokens,
        order: Order { relevant, recent: usage.recent(16) },
    };
    let made = match format {
        CatalogFormat::Tiers => tiers(&snapshot, toolbox, routing.as_ref(), wanted),
        CatalogFormat::Xml | CatalogFormat::Json | CatalogFormat::Bullets | CatalogFormat::Tool => {
            whole(&snapshot, toolbox, wanted)
        }
    };
    (made, routing)
}

/// The catalog of all skills.
fn whole(snapshot: &Arc<Snapshot>, toolbox: &Toolbox, wanted: Wanted) -> Arc<Catalog> {
    let policy = toolbox.registry().policy();
    toolbox.catalogs.get(snapshot, wanted, |wanted| catalog(snapshot, policy, &wanted.request()))
}

fn route(toolbox: &Toolbox, snapshot: &Arc<Snapshot>, query: &str, usage: &Usage) -> Routing {
    let policy = toolbox.registry().policy();
    let max = match policy.activation {
        Activation::Pushed { max } => max as usize,
        _ => 3,
    };
    let options = Options { max_skills: max, k: 16, usage, now: usage::now(), mention: policy.mention };
    toolbox.router(snapshot).route(query, &options)
}

/// The tier that the query asks for; without a query, names and brief descriptions.
fn tiers(
    snapshot: &Arc<Snapshot>,
    toolbox: &Toolbox,
    routing: Option<&Routing>,
    wanted: Wanted,
) -> Arc<Catalog> {
    let policy = toolbox.registry().policy();
    let mut full = Vec::new();
    let tier = match routing.map(|routing| routing.tier) {
        None | Some(Tier::Registry) => return whole(snapshot, toolbox, wanted),
        Some(Tier::Nothing) => Tiers::Nothing,
        Some(Tier::Breadcrumb) => Tiers::Count,
        Some(Tier::Full) => {
            let names =
                routing.iter().flat_map(|routing| routing.pushed().iter().map(|found| found.name.as_str()));
            full.extend(names.filter_map(|name| {
                // What a server says has no place among the words of the system: the model may load it by itself.
                let skill = snapshot.get(name).filter(|skill| skill.supplied().is_none())?;
                Some((name.to_owned(), activate(skill, None, policy).ok()?.content()))
            }));
            if full.is_empty() {
                return whole(snapshot, toolbox, wanted);
            }
            Tiers::Full(&full)
        }
    };
    let text = tier.render(snapshot, policy, &wanted.request());
    Arc::new(Catalog { text, plan: Plan::default() })
}

/// The system prompt of a turn: the catalog or the tiers, the rules that go with them, and what is active already.
pub fn system_prompt(toolbox: &Toolbox, session: &Session, query: Option<&str>) -> String {
    if !toolbox.registry().policy().enabled {
        return String::new();
    }
    let (made, routing) = made(toolbox, &PromptRequest { query, ..PromptRequest::default() });
    if query.is_some() && toolbox.registry().policy().catalog.format == CatalogFormat::Tiers {
        let pushed = routing.iter().filter(|routing| routing.tier == Tier::Full);
        session.push(pushed.flat_map(Routing::pushed).map(|found| found.name.clone()).collect());
    }
    let mut text = made.text.clone();
    if !text.is_empty() && toolbox.registry().policy().activation == Activation::SkillTool {
        text = format!("{SKILL_TOOL_RULES}\n\n{text}");
    }
    text.push_str(&active_skills(session.ledger.names()));
    text
}
